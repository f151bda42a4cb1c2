import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/** HBase for YCSB: a record is a row, a field a column of one family; each operation is one call of HBase's client. */
public final class HBaseBinding extends DB {
  static final byte[] FAMILY = Bytes.toBytes("f");

  private final Connection connection;
  private final TableName name;
  private Table table;

  HBaseBinding(Connection connection, TableName name) {
    this.connection = connection;
    this.name = name;
  }

  private interface Call {
    Status make() throws IOException;
  }

  private static Status of(Call call) {
    try {
      return call.make();
    } catch (IOException error) {
      YcsbRuns.failed(error);
      return Status.ERROR;
    }
  }

  private static void fill(Result row, Map<String, ByteIterator> values) {
    for (Cell cell : row.rawCells()) {
      String field = Bytes.toString(CellUtil.cloneQualifier(cell));
      values.put(field, new ByteArrayByteIterator(CellUtil.cloneValue(cell)));
    }
  }

  @Override
  public void init() throws DBException {
    try {
      table = connection.getTable(name);
    } catch (IOException error) {
      throw new DBException(error);
    }
  }

  @Override
  public Status read(String ignored, String key, Set<String> fields, Map<String, ByteIterator> values) {
    Get get = new Get(Bytes.toBytes(key)).addFamily(FAMILY);
    if (fields != null) {
      fields.forEach(field -> get.addColumn(FAMILY, Bytes.toBytes(field)));
    }
    return of(() -> {
      Result row = table.get(get);
      fill(row, values);
      return row.isEmpty() ? Status.NOT_FOUND : Status.OK;
    });
  }

  @Override
  public Status scan(
      String ignored, String from, int count, Set<String> fields, Vector<HashMap<String, ByteIterator>> rows) {
    Scan scan = new Scan().withStartRow(Bytes.toBytes(from)).setLimit(count).setCaching(count);
    scan.addFamily(FAMILY);
    if (fields != null) {
      fields.forEach(field -> scan.addColumn(FAMILY, Bytes.toBytes(field)));
    }
    return of(() -> {
      try (ResultScanner found = table.getScanner(scan)) {
        for (Result row : found) {
          HashMap<String, ByteIterator> values = new HashMap<>();
          fill(row, values);
          rows.add(values);
        }
      }
      return Status.OK;
    });
  }

  @Override
  public Status update(String ignored, String key, Map<String, ByteIterator> values) {
    Put put = new Put(Bytes.toBytes(key));
    values.forEach((field, value) -> put.addColumn(FAMILY, Bytes.toBytes(field), value.toArray()));
    return of(() -> {
      table.put(put);
      return Status.OK;
    });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return update(table, key, values);
  }

  @Override
  public Status delete(String ignored, String key) {
    return of(() -> {
      table.delete(new Delete(Bytes.toBytes(key)));
      return Status.OK;
    });
  }
}
