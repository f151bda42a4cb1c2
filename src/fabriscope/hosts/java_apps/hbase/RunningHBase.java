import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.MasterNotRunningException;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.TableNotEnabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.zookeeper.KeeperException;

/**
 * An HBase that is not ours: it is asked and never waited for, and it gets tables of ours, whose names begin with
 * `fabriscope.table`, which go again.
 */
final class RunningHBase {
  /** Set where the HBase is not ours: how the names of our tables begin. */
  static final String TABLE = "fabriscope.table";

  private static final String PREFIX = "fabriscope-";
  private static final int BRIEF = 10_000;
  private static final int PATIENT = 60_000;
  private static final long POLL_MS = 200;

  private final Configuration configuration;
  private final String stem;
  private boolean isShut = false;

  RunningHBase(Configuration configuration) {
    this.configuration = configuration;
    stem = configuration.get(TABLE);
  }

  /** Who asks or removes does not try again for minutes; milliseconds of a call, and twice that of all its tries. */
  private Connection connect(int callMs) throws IOException {
    Configuration once = new Configuration(configuration);
    once.set("hbase.client.retries.number", "2");
    once.setInt("hbase.rpc.timeout", callMs);
    once.setInt("hbase.client.meta.operation.timeout", 2 * callMs);
    once.setInt("hbase.client.operation.timeout", 2 * callMs);
    once.set("zookeeper.recovery.retry", "1");
    once.set("zookeeper.session.timeout", "10000");
    return ConnectionFactory.createConnection(once);
  }

  /** Ask whether it can be used, change nothing, print what it said, and return how many region servers live. */
  int look() throws IOException {
    try (Connection connection = connect(BRIEF); Admin admin = connection.getAdmin()) {
      Collection<ServerName> servers = admin.getRegionServers();
      if (servers.isEmpty()) {
        throw new IOException("it has no region server that is live");
      }
      servers.forEach(one -> System.out.println("fabriscope: server address=" + one.getAddress()));
      for (TableName one : admin.listTableNames()) {
        if (one.getNameAsString().startsWith(PREFIX)) {
          System.out.println("fabriscope: beside " + one);
        }
      }
      return servers.size();
    }
  }

  /** Make a table unless we were asked to end: who ends us waits for one that is being made. */
  synchronized void make(Making table) throws IOException {
    if (isShut) {
      throw new IOException("no table is made any more: we were asked to end");
    }
    table.make();
  }

  interface Making {
    void make() throws IOException;
  }

  /** Have the tables removed when we are asked to end. */
  void removeWhenAskedToEnd() {
    AskedToEnd.remove(this::remove, RunningHBase::reason);
  }

  /** Drop our tables, and do not give up before the master does: who was killed over that left them half way. */
  synchronized void remove() throws IOException, InterruptedException {
    isShut = true;
    try (Connection connection = connect(PATIENT); Admin admin = connection.getAdmin()) {
      for (List<TableName> left = own(admin); !left.isEmpty(); left = own(admin)) {
        for (TableName one : left) {
          remove(admin, one);
        }
      }
    }
    System.out.println("fabriscope: removed " + stem);
    System.out.flush();
  }

  private List<TableName> own(Admin admin) throws IOException {
    List<TableName> found = new ArrayList<>();
    for (TableName one : admin.listTableNames()) {
      if (one.getNameAsString().startsWith(stem + "-")) {
        found.add(one);
      }
    }
    return found;
  }

  private static void remove(Admin admin, TableName one) throws IOException, InterruptedException {
    try {
      if (admin.isTableEnabled(one)) {
        admin.disableTable(one);
      }
      if (admin.isTableDisabled(one)) {
        admin.deleteTable(one);
      } else {
        Thread.sleep(POLL_MS); // the master is about it, as one asked that was killed since: it is looked at again
      }
    } catch (TableNotFoundException | TableNotEnabledException | TableNotDisabledException error) {
      Thread.sleep(POLL_MS); // another one was ahead
    }
  }

  /** Return what is wrong, as a sentence without the address, where it is known; null where it is not. */
  static String reason(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      String said = String.valueOf(cause.getMessage()).split("\n")[0];
      if (said.contains("SIMPLE authentication is not enabled") || said.contains("Kerberos")) {
        return "this HBase wants Kerberos, which fabriscope does not speak: " + said;
      }
      if (cause instanceof KeeperException.NoNodeException || said.contains("KeeperErrorCode = NoNode")) {
        return "that ZooKeeper knows no active master of an HBase there (" + said + ")";
      }
      if (cause instanceof KeeperException || said.contains("KeeperErrorCode = ConnectionLoss")) {
        return "no ZooKeeper answers there (" + said + ")";
      }
      if (cause instanceof MasterNotRunningException) {
        return "it has no master that is active (" + said + ")";
      }
    }
    return null;
  }
}
