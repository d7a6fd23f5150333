package dev.rpcbench.client;

/**
 * How a call ended.
 *
 * @param kind the contract's number
 * @param status the protocol's status, if there is one
 */
public record Outcome(byte kind, short status) {
  public static final Outcome OK = new Outcome((byte) 0, (short) 0);
  public static final Outcome WRONG_ANSWER = new Outcome((byte) 1, (short) 0);
  public static final Outcome TIMEOUT = new Outcome((byte) 3, (short) 0);
  public static final Outcome TRANSPORT = new Outcome((byte) 4, (short) 0);
  static final Outcome NOT_SENT = new Outcome((byte) 5, (short) 0);

  public static Outcome status(int status) {
    return new Outcome((byte) 2, (short) status);
  }
}
