import java.io.File;
import java.io.IOException;
import java.net.BindException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/** One daemon of HDFS: `HdfsNode namenode|datanode KEY=VALUE...`; prints `ready` once it serves. */
public final class HdfsNode {
  public static void main(String[] words) {
    // What it keeps goes with the launch, so that there is nothing to save: it ends at once when it is asked to.
    sun.misc.Signal.handle(new sun.misc.Signal("TERM"), signal -> Runtime.getRuntime().halt(0));
    try {
      start(words[0], System.getenv("FABRISCOPE_FOLDER"), configured(words));
      System.out.println("fabriscope: " + words[0] + " ready");
      System.out.flush();
    } catch (Throwable error) {
      System.err.println("fabriscope: the " + words[0] + " cannot start: " + reason(error));
      Runtime.getRuntime().halt(1);
    }
  }

  static void start(String role, String folder, Configuration configuration) throws IOException {
    String data = new File(folder, role).toURI().toString();
    if (role.equals("namenode")) {
      configuration.set("dfs.namenode.name.dir", data);
      DefaultMetricsSystem.setMiniClusterMode(true); // what formats it leaves sources of metrics
      NameNode.format(configuration);
      NameNode.createNameNode(new String[0], configuration);
      return;
    }
    configuration.set("dfs.datanode.data.dir", data);
    if (DataNode.createDataNode(new String[0], configuration) == null) {
      throw new IOException("no DataNode was made");
    }
  }

  static Configuration configured(String[] words) {
    Configuration configuration = new HdfsConfiguration();
    for (int place = 1; place < words.length; place++) {
      int split = words[place].indexOf('=');
      configuration.set(words[place].substring(0, split), words[place].substring(split + 1));
    }
    return configuration;
  }

  static String reason(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof BindException) {
        String said = cause.getMessage().split("\n")[0].replaceAll("; For more details.*", "");
        return "a port is in use (" + said + ")";
      }
    }
    return error.toString().split("\n")[0];
  }
}
