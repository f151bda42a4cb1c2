import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Options.ChecksumOpt;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.util.Progressable;

/** HDFS as clients see it, which notes from when to when each of TestDFSIO's data files was open. */
public final class TimedHdfs extends DistributedFileSystem {
  /** Start and end of each file's time, by the machine's monotonic clock. */
  static final List<long[]> TIMES = new ArrayList<>();

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
    return timed(path, super.create(path, permission, flags, bufferSize, replication, blockSize, progress, checksum));
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
