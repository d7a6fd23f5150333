import dev.rpcbench.client.Driver;
import dev.rpcbench.client.Library;
import dev.rpcbench.client.Method;
import dev.rpcbench.client.Outcome;
import dev.rpcbench.v1.DtoReply;
import dev.rpcbench.v1.DtoRequest;
import dev.rpcbench.v1.Echo;
import dev.rpcbench.v1.RecordReply;
import dev.rpcbench.v1.RecordRequest;
import dev.rpcbench.v1.TextReply;
import dev.rpcbench.v1.TextRequest;
import dev.rpcbench.v1.TreeReply;
import dev.rpcbench.v1.TreeRequest;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TBase;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TProtocolException;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;

/** Calls the contract's service with Apache Thrift's library: blocking calls on virtual threads. */
public final class Client {
  /** The library's exceptions for a reply to another call, or without a result. */
  private static final Set<Integer> UNRELATED =
      Set.of(
          TApplicationException.BAD_SEQUENCE_ID,
          TApplicationException.WRONG_METHOD_NAME,
          TApplicationException.INVALID_MESSAGE_TYPE,
          TApplicationException.MISSING_RESULT);

  /** A connection. The next call after an error opens it again. */
  private static final class Connection {
    private final Library.Target target;
    private TFramedTransport transport;
    private Echo.Client echo;

    Connection(Library.Target target) {
      this.target = target;
    }

    void open() throws TException {
      int colon = target.address().lastIndexOf(':');
      int millis = Math.toIntExact(TimeUnit.NANOSECONDS.toMillis(target.timeoutNanos()));
      var socket =
          new TSocket(
              new TConfiguration(),
              target.address().substring(0, colon),
              Integer.parseInt(target.address().substring(colon + 1)),
              millis);
      transport = new TFramedTransport(socket);
      transport.open();
      echo = new Echo.Client(new TBinaryProtocol(transport));
    }

    <Q, R> R call(Call<Q, R> call, Q request) throws TException {
      try {
        if (transport == null) {
          open();
        }
        return call.call(echo, request);
      } catch (TException error) {
        boolean isAnswered =
            error instanceof TApplicationException answer && !UNRELATED.contains(answer.getType());
        if (!isAnswered) {
          close();
        }
        throw error;
      }
    }

    void close() {
      if (transport != null) {
        transport.close();
        transport = null;
      }
    }
  }

  private static final class Connector implements Library.Connector<Connection> {
    @Override
    public Connection connect(Library.Target target) {
      return new Connection(target);
    }

    @Override
    public void await(Connection connection) throws IOException {
      try {
        connection.open();
      } catch (TException error) {
        throw new IOException(error);
      }
    }

    @Override
    public void close(Connection connection) {
      connection.close();
    }
  }

  private interface Call<Q, R> {
    R call(Echo.Client echo, Q request) throws TException;
  }

  private static <Q, R> Library.Exchange<Connection, Q, R> exchange(Call<Q, R> call) {
    Library.Blocking<Connection, Q, R> blocking =
        (connection, request) -> connection.call(call, request);
    return blocking.exchange();
  }

  private static <Q extends TBase<?, ?>> Method.Decoder<Q> decoder(Supplier<Q> empty) {
    return encoded -> {
      var request = empty.get();
      new TDeserializer(new TBinaryProtocol.Factory()).deserialize(request, encoded);
      return request;
    };
  }

  private static Outcome outcome(Throwable error) {
    if (error instanceof TApplicationException answer) {
      return UNRELATED.contains(answer.getType())
          ? Outcome.WRONG_ANSWER
          : Outcome.status(answer.getType());
    }
    if (error instanceof TTransportException transport) {
      // A length in the reply exceeds its frame.
      if (String.valueOf(transport.getMessage()).startsWith("MaxMessageSize reached")) {
        return Outcome.WRONG_ANSWER;
      }
      boolean isTimeout =
          transport.getType() == TTransportException.TIMED_OUT
              || transport.getCause() instanceof SocketTimeoutException;
      return isTimeout ? Outcome.TIMEOUT : Outcome.TRANSPORT;
    }
    return error instanceof TProtocolException ? Outcome.WRONG_ANSWER : Outcome.TRANSPORT;
  }

  // Each slot decodes its own requests, so it may change them.
  private static final Method<Connection, TextRequest, TextReply> TEXT =
      new Method<>(
          decoder(TextRequest::new),
          TextRequest::getText,
          TextRequest::setText,
          TextReply::getEcho,
          (request, reply) -> true,
          exchange(Echo.Client::Text));

  private static final Method<Connection, RecordRequest, RecordReply> RECORD =
      new Method<>(
          decoder(RecordRequest::new),
          request -> request.getRecord().getField1(),
          (request, text) -> {
            request.getRecord().setField1(text);
            return request;
          },
          reply -> reply.isSetEcho() ? reply.getEcho().getField1() : null,
          (request, reply) -> request.getRecord().equals(reply.getEcho()),
          exchange(Echo.Client::Record));

  private static final Method<Connection, DtoRequest, DtoReply> DTO =
      new Method<>(
          decoder(DtoRequest::new),
          request -> request.getDto().getProp1(),
          (request, text) -> {
            request.getDto().setProp1(text);
            return request;
          },
          reply -> reply.isSetEcho() ? reply.getEcho().getProp1() : null,
          (request, reply) -> request.getDto().equals(reply.getEcho()),
          exchange(Echo.Client::Dto));

  private static final Method<Connection, TreeRequest, TreeReply> TREE =
      new Method<>(
          decoder(TreeRequest::new),
          request -> request.getTree().getName(),
          (request, text) -> {
            request.getTree().setName(text);
            return request;
          },
          reply -> reply.isSetEcho() ? reply.getEcho().getName() : null,
          (request, reply) -> request.getTree().equals(reply.getEcho()),
          exchange(Echo.Client::Tree));

  public static void main(String[] args) throws IOException {
    Driver.run(
        new Library<>(
            "libthrift",
            version(),
            Library.Connections.EXCLUSIVE,
            true,
            new Connector(),
            Client::outcome,
            Map.of("text", TEXT, "record", RECORD, "dto", DTO, "tree", TREE)));
  }

  private static String version() {
    var version = TSocket.class.getPackage().getImplementationVersion();
    return version == null ? "unknown" : version;
  }

  private Client() {}
}
