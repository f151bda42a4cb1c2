import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.TestDFSIO;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.util.ToolRunner;
import org.apache.hadoop.util.VersionInfo;

/**
 * Waits until HDFS is ready, then runs TestDFSIO: `DfsioRuns DATANODES ROUNDS CASE... KEY=VALUE...`, where a
 * case is `ID:write|read|append:FILES:BYTES`. Round 0 of each is its warm-up. What TestDFSIO wrote into its file of
 * results is printed as it is, between lines of ours. With `fabriscope.path` it is an HDFS that is not ours, in which
 * DATANODES are needed for the copies; with `fabriscope.only` of `look` or `remove` that alone is done.
 */
public final class DfsioRuns {
  private static final int PATIENCE_S = 60;
  private static final long POLL_MS = 50;

  private final Configuration configuration;
  private final File results;
  private String written = "";
  private RunningHdfs running;

  private DfsioRuns(Configuration configuration, File results) {
    this.configuration = configuration;
    this.results = results;
  }

  public static void main(String[] words) {
    Configuration configuration = new Configuration();
    List<String[]> cases = new ArrayList<>();
    for (int place = 2; place < words.length; place++) {
      int split = words[place].indexOf('=');
      if (split < 0) {
        cases.add(words[place].split(":"));
      } else {
        configuration.set(words[place].substring(0, split), words[place].substring(split + 1));
      }
    }
    String folder = System.getenv("FABRISCOPE_FOLDER");
    configuration.set("hadoop.tmp.dir", folder);
    // Without it the local job runner keeps its jobs in /tmp/hadoop, and leaves them there.
    configuration.set("mapreduce.jobtracker.staging.root.dir", folder + "/staging");
    configuration.set("mapreduce.cluster.local.dir", folder + "/local");
    configuration.setClass("fs.hdfs.impl", TimedHdfs.class, FileSystem.class);
    int datanodes = Integer.parseInt(words[0]);
    int rounds = Integer.parseInt(words[1]);
    DfsioRuns runs = new DfsioRuns(configuration, new File(folder, "results"));
    RunningService.end(() -> runs.measure(datanodes, cases, rounds), RunningHdfs::knownReason);
  }

  private void measure(int datanodes, List<String[]> cases, int rounds) throws Exception {
    System.out.println("fabriscope: hadoop version=" + VersionInfo.getVersion());
    if (configuration.get(RunningHdfs.PATH) == null) {
      await(configuration, datanodes);
      measureAll(cases, rounds);
      return;
    }
    running = new RunningHdfs(configuration, datanodes);
    running.use(
        RunningService.only(configuration::get),
        () -> {
          running.make();
          measureAll(cases, rounds);
        });
  }

  private void measureAll(List<String[]> cases, int rounds) throws Exception {
    for (int round = 0; round < rounds; round++) {
      for (String[] one : cases) {
        measure(one, round);
      }
    }
  }

  /** Ask the NameNode until it has left safe mode and has its DataNodes. */
  private static void await(Configuration configuration, int wanted) throws Exception {
    long start = System.nanoTime();
    DistributedFileSystem hdfs = (DistributedFileSystem) FileSystem.get(configuration);
    while (true) {
      int live = hdfs.getDataNodeStats(DatanodeReportType.LIVE).length;
      boolean isSafe = hdfs.setSafeMode(SafeModeAction.SAFEMODE_GET);
      if (live >= wanted && !isSafe) {
        break;
      }
      int patience = configuration.getInt("fabriscope.patience", PATIENCE_S);
      if (System.nanoTime() - start > patience * 1_000_000_000L) {
        throw new RunningService.Refused(
            (live < wanted
                    ? live + " of " + wanted + " DataNodes are live after " + patience + " s"
                    : "the NameNode has not left safe mode after " + patience + " s")
                + (isSafe ? whySafe(hdfs) : ""));
      }
      Thread.sleep(POLL_MS);
    }
    System.out.println("fabriscope: ready_ns=" + (System.nanoTime() - start));
  }

  /** Return why a NameNode stays in safe mode: it says so to who would make something. */
  private static String whySafe(DistributedFileSystem hdfs) {
    try {
      hdfs.mkdirs(new Path("/fabriscope"));
      return "";
    } catch (IOException error) {
      String[] said = String.valueOf(error.getMessage()).split("\\sName node is in safe mode\\.\\s", 2);
      String why = said.length < 2 ? "" : said[1].split("\\. |\n", 2)[0];
      String room = why.contains("Resources are low") ? "; has the disk of its folder less than 100 MiB of room?" : "";
      return why.isEmpty() ? "" : " (" + why + ")" + room;
    }
  }

  private void measure(String[] one, int round) throws Exception {
    String data = one[2] + ":" + one[3];
    if (!one[1].equals("write") && !written.equals(data)) {
      run("write", one);
    }
    synchronized (TimedHdfs.TIMES) {
      TimedHdfs.TIMES.clear();
    }
    Files.deleteIfExists(results.toPath());
    run(one[1], one);
    if (running != null && round == 0) {
      running.checkCopies(configuration.getInt("dfs.replication", 1));
    }
    written = one[1].equals("append") ? "" : data;
    System.out.println("fabriscope: run case=" + one[0] + " round=" + round);
    System.out.print(Files.readString(results.toPath()));
    synchronized (TimedHdfs.TIMES) {
      for (long[] time : TimedHdfs.TIMES) {
        System.out.println("fabriscope: task start_ns=" + time[0] + " end_ns=" + time[1]);
      }
    }
    System.out.println("fabriscope: end");
    System.out.flush();
  }

  private void run(String operation, String[] one) throws Exception {
    String[] words = {
      "-" + operation, "-nrFiles", one[2], "-size", one[3] + "B", "-resFile", results.getPath()
    };
    if (ToolRunner.run(new Configuration(configuration), new TestDFSIO(), words) != 0) {
      throw new RunningService.Refused("TestDFSIO " + String.join(" ", words) + " failed");
    }
  }
}
