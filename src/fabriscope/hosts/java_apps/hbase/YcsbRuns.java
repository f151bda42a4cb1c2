import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.htrace.core.Tracer;
import site.ycsb.Client;
import site.ycsb.ClientThread;
import site.ycsb.DBWrapper;
import site.ycsb.Workload;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * Waits until HBase is ready, makes and loads a table for each size of records, then runs YCSB's workloads:
 * `YcsbRuns REGIONSERVERS REGIONS ROUNDS CASE... KEY=VALUE...`, where a case is
 * `ID:load|run:RECORD_BYTES:PROPERTY=VALUE,...`; properties of YCSB for all cases begin with `ycsb.`. Round 0 of each
 * is its warm-up; what is loaded is loaded once. What YCSB states is printed as it is, between lines of ours. With
 * `fabriscope.table` it is an HBase that is not ours, and REGIONS are those of each of its region servers; with
 * `fabriscope.only` of `look` or `remove` that alone is done.
 */
public final class YcsbRuns {
  private static final long PATIENCE_NS = 120_000_000_000L;
  private static final long POLL_MS = 50;
  private static final int LEAST_KEY = 1000;
  private static final int KEYS = 8223; // a key is "user" and up to 19 digits, none above 2^63: user1000... to user9223...
  private static final String LAST_ERROR_PREFIX = "fabriscope: error ";

  private static final AtomicReference<Throwable> LAST_ERROR = new AtomicReference<>();

  private final Connection connection;
  private final Properties common;
  private final File folder;
  private final RunningHBase running;
  private final String stem;

  private YcsbRuns(Configuration configuration, Properties common, RunningHBase running) throws IOException {
    this.connection = ConnectionFactory.createConnection(configuration);
    this.common = common;
    this.folder = new File(System.getenv("FABRISCOPE_FOLDER"));
    this.running = running;
    this.stem = running == null ? "ycsb" : stemOf(configuration);
  }

  /** Note why an operation failed: YCSB counts it and goes on. */
  static void failed(Throwable error) {
    LAST_ERROR.set(error);
  }

  public static void main(String[] words) {
    Configuration configuration = HBaseConfiguration.create();
    Properties common = new Properties();
    List<String[]> cases = new ArrayList<>();
    for (int place = 3; place < words.length; place++) {
      int split = words[place].indexOf('=');
      if (words[place].indexOf(':') >= 0 && words[place].indexOf(':') < split) {
        cases.add(words[place].split(":", 4));
      } else if (words[place].startsWith("ycsb.")) {
        common.setProperty(words[place].substring(5, split), words[place].substring(split + 1));
      } else {
        configuration.set(words[place].substring(0, split), words[place].substring(split + 1));
      }
    }
    RunningService.end(() -> measure(configuration, common, words, cases), RunningHBase::knownReason);
  }

  private static void measure(Configuration configuration, Properties common, String[] words, List<String[]> cases)
      throws Exception {
    int regions = Integer.parseInt(words[1]);
    int rounds = Integer.parseInt(words[2]);
    System.out.println("fabriscope: hbase version=" + VersionInfo.getVersion());
    if (configuration.get(RunningHBase.TABLE) != null) {
      useRunning(configuration, common, regions, rounds, cases);
      return;
    }
    long start = System.nanoTime();
    await(configuration, Integer.parseInt(words[0]), start);
    System.out.println("fabriscope: ready_ns=" + (System.nanoTime() - start));
    new YcsbRuns(configuration, common, null).measureAll(regions, rounds, cases);
  }

  private static void useRunning(
      Configuration configuration, Properties common, int regions, int rounds, List<String[]> cases)
      throws Exception {
    Set<TableName> names = new TreeSet<>();
    cases.forEach(one -> names.add(tableOf(stemOf(configuration), Integer.parseInt(one[2]))));
    RunningHBase running = new RunningHBase(configuration, names);
    running.use(
        RunningService.only(configuration::get),
        () -> new YcsbRuns(configuration, common, running).measureAll(regions * running.serverCount(), rounds, cases));
  }

  private static String stemOf(Configuration configuration) {
    return configuration.get(RunningHBase.TABLE) + "-";
  }

  private void measureAll(int regions, int rounds, List<String[]> cases) throws Exception {
    TreeMap<Integer, String[]> loads = new TreeMap<>();
    for (String[] one : cases) {
      loads.merge(Integer.parseInt(one[2]), one, (known, other) -> other[1].equals("load") ? other : known);
    }
    for (Map.Entry<Integer, String[]> one : loads.entrySet()) {
      make(tableOf(stem, one.getKey()), regions);
      run(one.getValue()[1].equals("load") ? one.getValue()[0] : "", 1, true, one.getValue());
    }
    for (int round = 0; round < rounds; round++) {
      for (String[] one : cases) {
        if (one[1].equals("run")) {
          run(one[0], round, false, one);
        }
      }
    }
  }

  private static TableName tableOf(String stem, int recordBytes) {
    return TableName.valueOf(stem + recordBytes);
  }

  /** Ask the master until it has initialised itself and has its region servers. */
  private static void await(Configuration configuration, int wanted, long start) throws Exception {
    Configuration once = new Configuration(configuration);
    once.set("hbase.client.retries.number", "1"); // we ask again ourselves
    try (Connection connection = ConnectionFactory.createConnection(once); Admin admin = connection.getAdmin()) {
      while (true) {
        int live = 0;
        try {
          live = admin.getRegionServers().size();
          if (live >= wanted && admin.isTableAvailable(TableName.META_TABLE_NAME)
              && admin.listNamespaces().length > 0) {
            return;
          }
        } catch (IOException error) {
          // There is no master yet, or it says so: it is asked again.
        }
        if (System.nanoTime() - start > PATIENCE_NS) {
          String patience = " after " + PATIENCE_NS / 1_000_000_000L + " s";
          throw new RunningService.Refused(
              live < wanted
                  ? live + " of " + wanted + " region servers are live" + patience
                  : "the master has not initialised itself" + patience);
        }
        Thread.sleep(POLL_MS);
      }
    }
  }

  /** Make a table whose regions have about equal shares of YCSB's keys, and tell how many each server has. */
  private void make(TableName name, int regions) throws IOException {
    byte[][] splits = new byte[regions - 1][];
    for (int place = 1; place < regions; place++) {
      splits[place - 1] = Bytes.toBytes("user" + (LEAST_KEY + place * KEYS / regions));
    }
    TableDescriptor table =
        TableDescriptorBuilder.newBuilder(name)
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of(HBaseBinding.FAMILY))
            .build();
    try (Admin admin = connection.getAdmin()) {
      if (running == null) {
        admin.createTable(table, splits);
      } else {
        running.make(connection, table, splits);
      }
      for (ServerName server : admin.getRegionServers()) {
        int count = (int) admin.getRegions(server).stream().filter(one -> one.getTable().equals(name)).count();
        System.out.println("fabriscope: regions table=" + name + " host=" + server.getHostname() + " count=" + count);
      }
    }
  }

  private void run(String caseId, int round, boolean isLoad, String[] one) throws Exception {
    int recordBytes = Integer.parseInt(one[2]);
    Properties told = new Properties();
    told.putAll(common);
    for (String property : one[3].split(",")) {
      int split = property.indexOf('=');
      told.setProperty(property.substring(0, split), property.substring(split + 1));
    }
    File results = new File(folder, "results");
    told.setProperty("fieldlength", Integer.toString(recordBytes / Integer.parseInt(told.getProperty("fieldcount"))));
    told.setProperty("exportfile", results.getPath());
    told.setProperty("hdrhistogram.output.path", folder.getPath() + "/");
    if (isLoad) {
      told.setProperty("operationcount", told.getProperty("recordcount"));
      told.remove("target");
    }
    LAST_ERROR.set(null);
    runYcsb(told, tableOf(stem, recordBytes), isLoad);
    File[] logs = folder.listFiles((ignored, name) -> name.endsWith(".hdr"));
    if (caseId.isEmpty()) {
      for (File log : logs) {
        Files.delete(log.toPath());
      }
      return;
    }
    System.out.println("fabriscope: run case=" + caseId + " round=" + round);
    System.out.print(Files.readString(results.toPath()));
    for (File log : logs) {
      for (String line : Files.readAllLines(log.toPath())) {
        if (!line.startsWith("#") && !line.startsWith("\"")) {
          System.out.println("fabriscope: histogram " + log.getName().replace(".hdr", "") + " " + line);
        }
      }
      Files.delete(log.toPath());
    }
    if (LAST_ERROR.get() != null) {
      System.out.println(LAST_ERROR_PREFIX + reason(LAST_ERROR.get()));
    }
    System.out.println("fabriscope: end");
    System.out.flush();
  }

  /** Do what YCSB's own main does, which would end this program; its measurements are those of one run. */
  private void runYcsb(Properties told, TableName name, boolean isLoad) throws Exception {
    Field singleton = Measurements.class.getDeclaredField("singleton");
    singleton.setAccessible(true);
    singleton.set(null, null);
    Measurements.setProperties(told);
    Workload workload = new CoreWorkload();
    workload.init(told);
    int operations = Integer.parseInt(told.getProperty("operationcount"));
    // As YCSB's own main: a thread whose share is no operation would never end.
    int threads = Math.min(Integer.parseInt(told.getProperty("threadcount")), operations);
    double target = Double.parseDouble(told.getProperty("target", "0")) / threads / 1000.0;
    CountDownLatch left = new CountDownLatch(threads);
    Tracer tracer = new Tracer.Builder("YCSB").build();
    List<ClientThread> clients = new ArrayList<>();
    for (int place = 0; place < threads; place++) {
      int share = operations / threads + (place < operations % threads ? 1 : 0);
      DBWrapper database = new DBWrapper(new HBaseBinding(connection, name), tracer);
      database.setProperties(told);
      ClientThread client = new ClientThread(database, !isLoad, workload, told, share, target, left);
      client.setThreadId(place);
      client.setThreadCount(threads);
      clients.add(client);
    }
    long start = System.currentTimeMillis();
    List<Thread> running = new ArrayList<>();
    for (ClientThread client : clients) {
      Thread thread = new Thread(client);
      thread.start();
      running.add(thread);
    }
    int done = 0;
    for (int place = 0; place < threads; place++) {
      running.get(place).join();
      done += clients.get(place).getOpsDone();
    }
    long end = System.currentTimeMillis();
    workload.cleanup();
    if (done < operations) {
      Throwable error = LAST_ERROR.get();
      String why = error == null ? "" : ": " + reason(error);
      throw new RunningService.Refused(done + " of " + operations + " operations were made" + why);
    }
    Method export = Client.class.getDeclaredMethod("exportMeasurements", Properties.class, int.class, long.class);
    export.setAccessible(true);
    export.invoke(null, told, done, end - start);
  }

  private static String reason(Throwable error) {
    return RunningService.reason(error, RunningHBase::knownReason);
  }
}
