import java.util.function.Function;

/** A service that is not ours: it is asked, never waited for, and what a client of ours makes in it goes again. */
abstract class RunningService {
  private static final String ONLY = "fabriscope.only";

  /** What a program does. */
  interface Task {
    void perform() throws Exception;
  }

  /** What is wrong, as a sentence of ours. */
  static final class Refused extends Exception {
    Refused(String what) {
      super(what);
    }
  }

  /** Ask whether it can be used, change nothing, and print what it said. */
  abstract void look() throws Exception;

  /** Remove what is ours, and see to it that nothing more is made. */
  abstract void remove() throws Exception;

  /** Return what is wrong, as a sentence without the address, where it is known; null where it is not. */
  abstract String known(Throwable error);

  /** Return the setting by which a client is told to do only one thing of what it does. */
  static String only(Function<String, String> settings) {
    String only = settings.apply(ONLY);
    return only == null ? "" : only;
  }

  /** Measure it, and remove what was made, whatever ends us; or only look, or only remove what another has left. */
  final void use(String only, Task measuring) throws Exception {
    if (only.equals("remove")) {
      remove();
      return;
    }
    try {
      look();
    } catch (Exception error) {
      System.out.println("fabriscope: made nothing");
      throw error;
    }
    if (only.equals("look")) {
      return;
    }
    removeWhenAskedToEnd();
    try {
      measuring.perform();
    } finally {
      remove();
    }
  }

  private void removeWhenAskedToEnd() {
    sun.misc.Signal.handle(
        new sun.misc.Signal("TERM"),
        signal -> {
          try {
            remove();
          } catch (Throwable error) {
            System.err.println("fabriscope: " + reason(error, this::known));
          }
          Runtime.getRuntime().halt(1);
        });
  }

  /** Be the whole of a client: say at its end that it is done, or why not. */
  static void end(Task task, Function<Throwable, String> known) {
    try {
      task.perform();
      System.out.println("fabriscope: done");
      System.out.flush();
      Runtime.getRuntime().halt(0);
    } catch (Throwable error) {
      System.err.println("fabriscope: " + reason(error, known));
      Runtime.getRuntime().halt(1);
    }
  }

  /** Return what is wrong, as a sentence where one is known; else what the service's own library says. */
  static String reason(Throwable error, Function<Throwable, String> known) {
    if (error instanceof Refused) {
      return error.getMessage();
    }
    String sentence = known.apply(error);
    return sentence == null ? error.toString().split("\n")[0] : sentence;
  }
}
