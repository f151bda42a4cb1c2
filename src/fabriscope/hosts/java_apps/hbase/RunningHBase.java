import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.MasterNotRunningException;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.TableNotEnabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ClusterConnection;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.ConnectionUtils;
import org.apache.hadoop.hbase.client.NonceGenerator;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.zookeeper.KeeperException;

/**
 * An HBase that is not ours: it gets tables of ours, whose names begin with `fabriscope.table`, which go again.
 *
 * Who makes a table asks the master under a number that is this table's alone (a nonce), and so does who removes it: of
 * two calls of one number, whoever makes them, the master performs the first that it gets, and answers the other with
 * what comes of that one. So nothing that a client has asked for when it was killed is made after its tables were
 * removed, wherever its call was.
 */
final class RunningHBase extends RunningService {
  /** Set where the HBase is not ours: how the names of our tables begin. */
  static final String TABLE = "fabriscope.table";

  private static final String PREFIX = "fabriscope-";
  private static final int BRIEF = 10_000;
  private static final int PATIENT = 60_000;
  private static final long POLL_MS = 200;
  private static final Pattern CLOSED = Pattern.compile("address=(?:[^/\\s]*/)?([^/\\s]+):(\\d+)[^\\n]*[Cc]onnection closed");
  /** HBase's magic number, the version of its protocol, and that we say our name without a proof of it. */
  private static final byte[] SIMPLE_PREAMBLE = {'H', 'B', 'a', 's', 0, 80};
  private static final int MOST_SAID = 4096;
  private static final String UNKNOWN = "Authentication is required"; // as HBase's server says it

  private final Configuration configuration;
  private final String stem;
  private final Collection<TableName> names;
  private boolean isShut = false;
  private int serverCount = 0;

  /** `names` are those of the tables that we make. */
  RunningHBase(Configuration configuration, Collection<TableName> names) {
    this.configuration = configuration;
    this.names = names;
    stem = configuration.get(TABLE);
  }

  /** Return how many region servers lived when we looked. */
  int serverCount() {
    return serverCount;
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

  @Override
  void look() throws IOException {
    try {
      ask();
    } catch (IOException error) {
      throw refusesWhoIsUnknown(error) ? new IOException(UNKNOWN, error) : error;
    }
  }

  private void ask() throws IOException {
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
      serverCount = servers.size();
    }
  }

  /**
   * Return whether a master that ended our connection wants to know who we are: HBase's own client drops what it says of
   * that, so it is asked once more, by the first bytes of a connection without Kerberos.
   */
  private static boolean refusesWhoIsUnknown(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      Matcher master = CLOSED.matcher(String.valueOf(cause.getMessage()));
      if (master.find()) {
        try (Socket socket = new Socket()) {
          socket.setSoTimeout(BRIEF);
          socket.connect(new InetSocketAddress(master.group(1), Integer.parseInt(master.group(2))), BRIEF);
          socket.getOutputStream().write(SIMPLE_PREAMBLE);
          byte[] said = socket.getInputStream().readNBytes(MOST_SAID);
          return new String(said, StandardCharsets.ISO_8859_1).contains(UNKNOWN);
        } catch (IOException silence) {
          return false;
        }
      }
    }
    return false;
  }

  /** Make a table unless we were asked to end: who ends us waits for one that is being made. */
  synchronized void make(Connection connection, TableDescriptor table, byte[][] splits) throws IOException {
    if (isShut) {
      throw new IOException("no table is made any more: we were asked to end");
    }
    try (Admin admin = numbered(connection, table.getTableName())) {
      admin.createTable(table, splits);
    }
  }

  /** Return one whose next call to the master has the number of that table. */
  private static Admin numbered(Connection connection, TableName name) throws IOException {
    ClusterConnection own = (ClusterConnection) connection;
    NonceGenerator usual = ConnectionUtils.injectNonceGeneratorForTesting(own, new TableNonce(name));
    try {
      return own.getAdmin();
    } finally {
      ConnectionUtils.injectNonceGeneratorForTesting(own, usual);
    }
  }

  /** A number that follows from the name of a table, which was drawn at random. */
  private static final class TableNonce implements NonceGenerator {
    private final ByteBuffer digest;

    TableNonce(TableName name) {
      try {
        digest = ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(name.getName()));
      } catch (NoSuchAlgorithmException error) {
        throw new IllegalStateException(error);
      }
    }

    @Override
    public long getNonceGroup() {
      return digest.getLong(0);
    }

    @Override
    public long newNonce() {
      return digest.getLong(Long.BYTES);
    }
  }

  /** See to it that a table is not made from now on: return once its making has ended, and nobody's call begins it. */
  private static void settle(Connection connection, TableName name) throws IOException {
    try (Admin admin = numbered(connection, name)) {
      admin.deleteTable(name);
    } catch (DoNotRetryIOException error) {
      // The master has answered: its making failed, or there is no such table, or there is one, which is in use.
    }
  }

  /** Drop our tables, and do not give up before the master does: who was killed over that left them half way. */
  @Override
  synchronized void remove() throws IOException, InterruptedException {
    isShut = true;
    try (Connection connection = connect(PATIENT); Admin admin = connection.getAdmin()) {
      for (TableName one : names) {
        settle(connection, one);
      }
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

  @Override
  String known(Throwable error) {
    return knownReason(error);
  }

  static String knownReason(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      String said = String.valueOf(cause.getMessage()).split("\n")[0];
      if (said.contains("SIMPLE authentication is not enabled") || said.equals(UNKNOWN) || said.contains("Kerberos")) {
        return "this HBase wants Kerberos, which fabriscope does not speak: " + said;
      }
      if (cause instanceof KeeperException.NoNodeException || said.contains("KeeperErrorCode = NoNode")) {
        return "that ZooKeeper knows no active master of an HBase there (" + said + ")";
      }
      if (cause instanceof KeeperException || said.contains("KeeperErrorCode = ConnectionLoss")
          || said.startsWith("Zookeeper GET could not be completed")) { // what listens there is something else
        return "no ZooKeeper answers there (" + said + ")";
      }
      if (cause instanceof MasterNotRunningException) {
        return "it has no master that is active (" + said + ")";
      }
    }
    return null;
  }
}
