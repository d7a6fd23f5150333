import com.google.protobuf.util.JsonFormat;
import com.linecorp.armeria.common.grpc.GrpcJsonMarshaller;
import com.linecorp.armeria.common.grpc.GrpcSerializationFormats;
import com.linecorp.armeria.server.Server;
import com.linecorp.armeria.server.grpc.GrpcService;
import dev.rpcbench.v1.DtoReply;
import dev.rpcbench.v1.DtoRequest;
import dev.rpcbench.v1.EchoGrpc;
import dev.rpcbench.v1.RecordReply;
import dev.rpcbench.v1.RecordRequest;
import dev.rpcbench.v1.TextReply;
import dev.rpcbench.v1.TextRequest;
import dev.rpcbench.v1.TreeReply;
import dev.rpcbench.v1.TreeRequest;
import io.grpc.stub.StreamObserver;
import java.io.File;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/**
 * The contract's gRPC service on Armeria, which answers the same methods in JSON over HTTP/1.1 and HTTP/2. The launcher has checked
 * the settings in the environment.
 */
public final class EchoServer {
  /** How long calls in flight may take after SIGTERM. */
  private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(2);

  private static final class Echo extends EchoGrpc.EchoImplBase {
    @Override
    public void text(TextRequest request, StreamObserver<TextReply> reply) {
      reply.onNext(TextReply.newBuilder().setEcho(request.getText()).build());
      reply.onCompleted();
    }

    @Override
    public void record(RecordRequest request, StreamObserver<RecordReply> reply) {
      var echo = RecordReply.newBuilder();
      if (request.hasRecord()) {
        echo.setEcho(request.getRecord());
      }
      reply.onNext(echo.build());
      reply.onCompleted();
    }

    @Override
    public void dto(DtoRequest request, StreamObserver<DtoReply> reply) {
      var echo = DtoReply.newBuilder();
      if (request.hasDto()) {
        echo.setEcho(request.getDto());
      }
      reply.onNext(echo.build());
      reply.onCompleted();
    }

    @Override
    public void tree(TreeRequest request, StreamObserver<TreeReply> reply) {
      var echo = TreeReply.newBuilder();
      if (request.hasTree()) {
        echo.setEcho(request.getTree());
      }
      reply.onNext(echo.build());
      reply.onCompleted();
    }
  }

  public static void main(String[] args) {
    var address =
        new InetSocketAddress(
            System.getenv("RPCBENCH_HOST"), Integer.parseInt(System.getenv("RPCBENCH_PORT")));
    Function<JsonFormat.Parser, JsonFormat.Parser> lenient =
        JsonFormat.Parser::ignoringUnknownFields;
    var json = GrpcJsonMarshaller.builderForGson().jsonParserCustomizer(lenient).build();
    var echo =
        GrpcService.builder()
            .addService(new Echo())
            .supportedSerializationFormats(GrpcSerializationFormats.values())
            // JSON is a plain POST to the method's path, without gRPC's frames. Protobuf's parser,
            // since the default, protobuf-jackson, accepts an object for an enum.
            .enableUnframedRequests(true)
            .jsonMarshallerFactory(service -> json)
            .build();
    // Everything else is the library's default: epoll, two event loops per CPU, handlers on the
    // event loops, bodies up to 10 MiB, any number of calls at a time on a connection.
    var builder = Server.builder();
    var certificate = System.getenv("RPCBENCH_TLS_CERT");
    if (certificate == null) {
      builder.http(address);
    } else {
      // With BoringSSL (in Netty's tcnative), which Armeria includes and prefers.
      builder
          .https(address)
          .tls(new File(certificate), new File(System.getenv("RPCBENCH_TLS_KEY")));
    }
    var server =
        builder
            .service(echo)
            // The client decides how long connections live; the default is 15 s without a call.
            .idleTimeoutMillis(0)
            .gracefulShutdownTimeout(Duration.ZERO, DRAIN_TIMEOUT)
            .build();
    server.closeOnJvmShutdown();
    try {
      server.start().join();
    } catch (CompletionException error) {
      System.err.println("java-armeria: cannot listen on " + address + ": " + error.getCause());
      System.exit(1);
    }
  }
}
