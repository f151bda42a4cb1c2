import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Options.ChecksumOpt;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.util.Progressable;

/**
 * HDFS as clients see it, which notes from when to when each of TestDFSIO's data files was open, and which makes nothing
 * any more once it was shut.
 */
public final class TimedHdfs extends DistributedFileSystem {
  /** Start and end of each file's time, by the machine's monotonic clock. */
  static final List<long[]> TIMES = new ArrayList<>();

  /** Who makes something reads, who shuts writes: so nothing is made after that, nor still under way. */
  private static final ReentrantReadWriteLock GATE = new ReentrantReadWriteLock();

  private static boolean isShut = false;

  private interface Making<T> {
    T make() throws IOException;
  }

  /** Return once nothing can be made any more. */
  static void shut() {
    GATE.writeLock().lock();
    isShut = true;
    GATE.writeLock().unlock();
  }

  private static <T> T made(Making<T> making) throws IOException {
    GATE.readLock().lock();
    try {
      if (isShut) {
        throw new IOException("nothing is made in HDFS any more: we were asked to end");
      }
      return making.make();
    } finally {
      GATE.readLock().unlock();
    }
  }

  private static void note(long startNs) {
    synchronized (TIMES) {
      TIMES.add(new long[] {startNs, System.nanoTime()});
    }
  }

  private static boolean isTimed(Path path) {
    return path.getParent() != null && path.getParent().getName().equals("io_data");
  }

  private FSDataOutputStream timed(Path path, FSDataOutputStream stream) throws IOException {
    return isTimed(path) ? new Output(stream) : stream;
  }

  @Override
  public FSDataOutputStream create(
      Path path, FsPermission permission, EnumSet<CreateFlag> flags, int bufferSize, short replication,
      long blockSize, Progressable progress, ChecksumOpt checksum) throws IOException {
    return timed(
        path,
        made(() -> super.create(path, permission, flags, bufferSize, replication, blockSize, progress, checksum)));
  }

  @Override
  public boolean mkdirs(Path path, FsPermission permission) throws IOException {
    return made(() -> super.mkdirs(path, permission));
  }

  @Override
  public FSDataOutputStream append(Path path, int bufferSize, Progressable progress) throws IOException {
    return timed(path, super.append(path, bufferSize, progress));
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    FSDataInputStream stream = super.open(path, bufferSize);
    return isTimed(path) ? new Input(stream) : stream;
  }

  private static final class Output extends FSDataOutputStream {
    private final long startNs = System.nanoTime();
    private final FSDataOutputStream stream;
    private boolean isOpen = true;

    Output(FSDataOutputStream stream) throws IOException {
      super(stream, null, stream.getPos());
      this.stream = stream;
    }

    @Override
    public void close() throws IOException {
      super.close();
      stream.close();
      if (isOpen) {
        isOpen = false;
        note(startNs);
      }
    }
  }

  private static final class Input extends FSDataInputStream {
    private final long startNs = System.nanoTime();
    private boolean isOpen = true;

    Input(FSDataInputStream stream) {
      super(stream);
    }

    @Override
    public void close() throws IOException {
      super.close();
      if (isOpen) {
        isOpen = false;
        note(startNs);
      }
    }
  }
}
