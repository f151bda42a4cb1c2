import java.io.File;
import java.net.InetSocketAddress;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** One daemon of HBase: `HBaseNode zookeeper|master|regionserver KEY=VALUE...`; prints `ready` once it was started. */
public final class HBaseNode {
  private static final int TICK_MS = 2000;
  private static final int MOST_CONNECTIONS = 0; // no limit

  public static void main(String[] words) {
    // What it keeps goes with the launch, so that there is nothing to save: it ends at once when it is asked to.
    sun.misc.Signal.handle(new sun.misc.Signal("TERM"), signal -> Runtime.getRuntime().halt(0));
    try {
      start(words[0], new File(System.getenv("FABRISCOPE_FOLDER")), configured(words));
      System.out.println("fabriscope: " + words[0] + " ready");
      System.out.flush();
    } catch (Throwable error) {
      System.err.println("fabriscope: the " + words[0] + " cannot start: " + HdfsNode.reason(error));
      Runtime.getRuntime().halt(1);
    }
  }

  private static void start(String role, File folder, Configuration configuration) throws Exception {
    if (role.equals("zookeeper")) {
      URI address = new URI("zookeeper://" + configuration.get("fabriscope.zookeeper"));
      ZooKeeperServer server = new ZooKeeperServer(folder, folder, TICK_MS);
      NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
      connections.configure(new InetSocketAddress(address.getHost(), address.getPort()), MOST_CONNECTIONS);
      connections.startup(server);
      return;
    }
    configuration.set("hbase.tmp.dir", folder.getPath());
    // A master is a region server that has no regions.
    HRegionServer daemon =
        role.equals("master")
            ? HMaster.constructMaster(HMaster.class, configuration)
            : new HRegionServer(configuration);
    daemon.start();
    new Thread(() -> await(role, daemon)).start();
  }

  /** End with the daemon, whose threads of others would go on. */
  private static void await(String role, HRegionServer daemon) {
    try {
      daemon.join();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    System.err.println("fabriscope: the " + role + (daemon.isAborted() ? " gave up" : " stopped"));
    Runtime.getRuntime().halt(1);
  }

  private static Configuration configured(String[] words) {
    Configuration configuration = HBaseConfiguration.create();
    for (int place = 1; place < words.length; place++) {
      int split = words[place].indexOf('=');
      configuration.set(words[place].substring(0, split), words[place].substring(split + 1));
    }
    return configuration;
  }
}
