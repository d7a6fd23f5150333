import dev.rpcbench.v1.DtoReply;
import dev.rpcbench.v1.DtoRequest;
import dev.rpcbench.v1.EchoGrpc;
import dev.rpcbench.v1.RecordReply;
import dev.rpcbench.v1.RecordRequest;
import dev.rpcbench.v1.TextReply;
import dev.rpcbench.v1.TextRequest;
import dev.rpcbench.v1.TreeReply;
import dev.rpcbench.v1.TreeRequest;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

/** The contract's gRPC service on grpc-java. The launcher has checked the settings in the environment. */
public final class EchoServer {
  /** How long calls in flight may take after SIGTERM. */
  private static final long DRAIN_SECONDS = 2;

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

  public static void main(String[] args) throws InterruptedException {
    var address =
        new InetSocketAddress(
            System.getenv("RPCBENCH_HOST"), Integer.parseInt(System.getenv("RPCBENCH_PORT")));
    // Handlers run on separate threads, one per CPU, since a real service may block (so no
    // directExecutor). gRPC's performance guide recommends a bounded pool, and a ForkJoinPool in
    // first-in-first-out mode is that of grpc-java's benchmarks. The default is a cached pool,
    // which starts a thread for every call that finds none idle.
    var handlers =
        new ForkJoinPool(
            Runtime.getRuntime().availableProcessors(),
            ForkJoinPool.defaultForkJoinWorkerThreadFactory,
            null,
            true);
    // Everything else is the library's default: epoll if available, messages up to 4 MiB, any
    // number of calls at a time on a connection, a flow-control window of 1 MiB, TCP_NODELAY.
    var builder =
        NettyServerBuilder.forAddress(address).addService(new Echo()).executor(handlers);
    var certificate = System.getenv("RPCBENCH_TLS_CERT");
    if (certificate != null) {
      // With BoringSSL (in Netty's tcnative), which grpc-netty-shaded includes and prefers.
      builder.useTransportSecurity(new File(certificate), new File(System.getenv("RPCBENCH_TLS_KEY")));
    }
    var server = builder.build();
    try {
      server.start();
    } catch (IOException error) {
      // Netty reports that it failed; the cause says why.
      var reason = error.getCause() == null ? error : error.getCause();
      System.err.println("java-grpc: cannot listen on " + address + ": " + reason);
      System.exit(1);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, handlers)));
    server.awaitTermination();
  }

  private static void stop(Server server, ExecutorService handlers) {
    server.shutdown();
    try {
      if (!server.awaitTermination(DRAIN_SECONDS, TimeUnit.SECONDS)) {
        server.shutdownNow();
        server.awaitTermination(1, TimeUnit.SECONDS);
      }
    } catch (InterruptedException interrupted) {
      server.shutdownNow();
    }
    handlers.shutdown();
  }
}
