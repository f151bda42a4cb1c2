import java.util.function.Function;

/** What a program of ours does when it is asked to end: it removes what it made in a service that is not ours. */
final class AskedToEnd {
  interface Removing {
    void remove() throws Exception;
  }

  private AskedToEnd() {}

  /** Have it removed then; `reason` says why it cannot be, as a sentence, or null where it knows none. */
  static void remove(Removing removing, Function<Throwable, String> reason) {
    sun.misc.Signal.handle(
        new sun.misc.Signal("TERM"),
        signal -> {
          try {
            removing.remove();
          } catch (Throwable error) {
            String known = reason.apply(error);
            System.err.println("fabriscope: " + (known == null ? error.toString().split("\n")[0] : known));
          }
          Runtime.getRuntime().halt(1);
        });
  }
}
