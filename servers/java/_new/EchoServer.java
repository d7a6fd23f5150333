/** The contract's service on LIBRARY. The launcher has checked the settings in the environment. */
public final class EchoServer {
  private EchoServer() {}

  public static void main(String[] args) {
    System.err.println(
        "java-LIBRARY: not written yet: EchoServer.java must answer the four calls of"
            + " contract/README.md at RPCBENCH_HOST and RPCBENCH_PORT");
    System.exit(1);
  }
}
