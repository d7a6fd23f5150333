package dev.rpcbench.client;

import java.io.IOException;
import java.util.Map;

/**
 * Describes a client library.
 *
 * @param <C> makes the calls of one connection, or of the library's pool
 * @param name as in the manifest
 * @param connections what a connection carries, and whose it is
 * @param blocking whether calls block their thread, a virtual one
 * @param connector opens connections
 * @param outcomes of calls that failed
 * @param methods those of the contract, by shape
 */
public record Library<C>(
    String name,
    String version,
    Connections connections,
    boolean blocking,
    Connector<C> connector,
    Outcomes outcomes,
    Map<String, Method<C, ?, ?>> methods) {

  /** What a connection carries, and whose it is. */
  public enum Connections {
    /** Several calls at a time. */
    MULTIPLEXED,
    /** One call at a time; it is the caller's. */
    EXCLUSIVE,
    /** One call at a time; it is in the library's pool. */
    POOLED
  }

  /**
   * Where to, and how, connections are opened.
   *
   * @param address host:port
   * @param callsPerConnection after how many calls a pool closes a connection; 0 if it keeps them
   */
  public record Target(
      String address, int connections, long timeoutNanos, int callsPerConnection) {}

  /** Opens and closes connections. */
  public interface Connector<C> {
    /** Opens a connection, or begins to. */
    C connect(Target target);

    /** Waits until a connection is open. */
    default void await(C connection) throws IOException, InterruptedException {}

    void close(C connection);
  }

  /** Finds the outcome of a call that failed. */
  public interface Outcomes {
    Outcome of(Throwable error);
  }

  /** Gets a reply or an error: before {@link Exchange#start} returns if calls block. */
  public interface Ended<R> {
    void reply(R reply);

    void error(Throwable error);
  }

  /** Makes a call. */
  public interface Exchange<C, Q, R> {
    void start(C connection, Q request, Ended<R> ended);
  }

  /** Calls that block. */
  public interface Blocking<C, Q, R> {
    R call(C connection, Q request) throws Exception;

    default Exchange<C, Q, R> exchange() {
      return (connection, request, ended) -> {
        R reply;
        try {
          reply = call(connection, request);
        } catch (Exception error) {
          ended.error(error);
          return;
        }
        ended.reply(reply);
      };
    }
  }
}
