import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.ipc.RemoteException;
import org.apache.hadoop.ipc.RpcException;
import org.apache.hadoop.ipc.StandbyException;
import org.apache.hadoop.security.AccessControlException;

/**
 * An HDFS that is not ours: it is asked and never waited for, and it gets one folder of ours (`test.build.data`, new, in
 * `fabriscope.path`), which goes again.
 */
final class RunningHdfs extends RunningService {
  /** Set where the HDFS is not ours: the folder in which ours is made. */
  static final String PATH = "fabriscope.path";

  private static final int COPIES_PATIENCE_TRIES = 200;
  private static final long POLL_MS = 50;
  private static final String IN_SAFE_MODE = "this HDFS is in safe mode, in which nobody can write";
  private static final String PREFIX = "fabriscope-";

  private final Configuration configuration;
  private final Path path;
  private final Path folder;
  private final int copies;

  /** `copies` of each block are asked for. */
  RunningHdfs(Configuration configuration, int copies) {
    this.copies = copies;
    this.configuration = configuration;
    path = new Path(configuration.get(PATH));
    folder = new Path(configuration.get("test.build.data"));
  }

  private DistributedFileSystem hdfs() throws IOException {
    return (DistributedFileSystem) FileSystem.get(configuration);
  }

  @Override
  void look() throws Exception {
    DistributedFileSystem hdfs = hdfs();
    if (hdfs.setSafeMode(SafeModeAction.SAFEMODE_GET)) {
      throw new Refused(IN_SAFE_MODE);
    }
    DatanodeInfo[] live = live(hdfs);
    if (live != null && live.length < copies) {
      throw new Refused(copies + " copies need " + copies + " DataNodes, and " + live.length + " are live");
    }
    for (DatanodeInfo one : live == null ? new DatanodeInfo[0] : live) {
      System.out.println("fabriscope: datanode address=" + one.getXferAddr() + " host=" + one.getHostName());
    }
    FileStatus status;
    try {
      status = hdfs.getFileStatus(path);
    } catch (FileNotFoundException error) {
      throw new Refused("there is no " + path + " in it; `hdfs dfs -mkdir -p " + path + "` makes it");
    }
    if (!status.isDirectory()) {
      throw new Refused(path + " is no folder");
    }
    hdfs.access(path, FsAction.WRITE_EXECUTE);
    for (FileStatus one : hdfs.listStatus(path, name -> name.getName().startsWith(PREFIX))) {
      System.out.println("fabriscope: beside " + one.getPath().toUri().getPath());
    }
  }

  /** Return the DataNodes that are live, or null where the NameNode tells that to its superuser alone. */
  private static DatanodeInfo[] live(DistributedFileSystem hdfs) throws IOException {
    try {
      return hdfs.getDataNodeStats(DatanodeReportType.LIVE);
    } catch (IOException error) {
      if (unwrapped(error) instanceof AccessControlException && !isKerberos(error)) {
        return null;
      }
      throw error;
    }
  }

  void make() throws IOException {
    hdfs().mkdirs(folder, new FsPermission((short) 0700));
  }

  @Override
  void remove() throws IOException {
    TimedHdfs.shut();
    hdfs().delete(folder, true);
    if (hdfs().exists(folder)) {
      throw new IOException(folder + " is still there after it was removed");
    }
    System.out.println("fabriscope: removed " + folder);
    System.out.flush();
  }

  /** Look where the blocks of what was written are: HDFS writes fewer copies than it was asked for without a word. */
  void checkCopies(int copies) throws Exception {
    int least = copies;
    for (int tries = 0; tries < COPIES_PATIENCE_TRIES; tries++) { // DataNodes tell the NameNode afterwards
      least = copies;
      Set<String> places = new HashSet<>();
      for (FileStatus one : hdfs().listStatus(new Path(folder, "io_data"))) {
        for (BlockLocation block : hdfs().getFileBlockLocations(one, 0, one.getLen())) {
          least = Math.min(least, block.getNames().length);
          for (String name : block.getNames()) {
            places.add(name);
          }
        }
      }
      if (least >= copies) {
        places.forEach(name -> System.out.println("fabriscope: used address=" + name));
        return;
      }
      Thread.sleep(POLL_MS);
    }
    throw new Refused(copies + " copies were asked for, and of a block there are " + least
        + ": has it as many DataNodes that are live and have room?");
  }

  private static boolean isKerberos(Throwable error) {
    return String.valueOf(error.getMessage()).contains("SIMPLE authentication is not enabled");
  }

  /** Return what the NameNode threw, where it was one that did. */
  private static Throwable unwrapped(Throwable error) {
    return error instanceof RemoteException ? ((RemoteException) error).unwrapRemoteException() : error;
  }

  @Override
  String known(Throwable error) {
    return knownReason(error);
  }

  static String knownReason(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      String known = ofCause(unwrapped(cause));
      if (known != null) {
        return known;
      }
    }
    return null;
  }

  private static String ofCause(Throwable error) {
    String said = String.valueOf(error.getMessage()).split("\n")[0].replaceAll("; For more details.*", "");
    if (isKerberos(error)) {
      return "this HDFS wants Kerberos, which fabriscope does not speak: " + said;
    }
    if (error instanceof UnknownHostException) {
      return "no such host is known";
    }
    if (error instanceof ConnectException) {
      return "nothing listens there (" + said + ")";
    }
    if (error instanceof SocketTimeoutException || error instanceof NoRouteToHostException) {
      return "it does not answer (" + said + ")";
    }
    if (error instanceof StandbyException) {
      return "this NameNode is on standby; name the active one";
    }
    if (said.contains("Name node is in safe mode")) {
      return IN_SAFE_MODE;
    }
    if (error instanceof RpcException || error instanceof EOFException) {
      return "what listens there is no NameNode (" + said + ")";
    }
    return error instanceof AccessControlException ? said : null;
  }
}
