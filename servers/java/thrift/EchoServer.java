import dev.rpcbench.v1.DtoReply;
import dev.rpcbench.v1.DtoRequest;
import dev.rpcbench.v1.Echo;
import dev.rpcbench.v1.RecordReply;
import dev.rpcbench.v1.RecordRequest;
import dev.rpcbench.v1.TextReply;
import dev.rpcbench.v1.TextRequest;
import dev.rpcbench.v1.TreeReply;
import dev.rpcbench.v1.TreeRequest;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TServer;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.server.TThreadedSelectorServer;
import org.apache.thrift.transport.TNonblockingServerSocket;
import org.apache.thrift.transport.TNonblockingServerSocket.NonblockingAbstractServerSocketArgs;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportException;
import org.apache.thrift.transport.layered.TFramedTransport;

/** The contract's service on Thrift. The launcher has checked the settings in the environment. */
public final class EchoServer {
  /** How long calls in flight may take after SIGTERM. */
  private static final int DRAIN_SECONDS = 2;

  /** Length of the accept queue, up to the kernel's maximum. The default is 50. */
  private static final int BACKLOG = 4096;

  /** Password of the certificate's file, from the contract. */
  private static final char[] PASSWORD = "rpcbench".toCharArray();

  private static final class Handler implements Echo.Iface {
    @Override
    public TextReply Text(TextRequest request) {
      return new TextReply(request.getText());
    }

    @Override
    public RecordReply Record(RecordRequest request) {
      return new RecordReply(request.getRecord());
    }

    @Override
    public DtoReply Dto(DtoRequest request) {
      return new DtoReply(request.getDto());
    }

    @Override
    public TreeReply Tree(TreeRequest request) {
      return new TreeReply(request.getTree());
    }
  }

  public static void main(String[] args) {
    var address =
        new InetSocketAddress(
            System.getenv("RPCBENCH_HOST"), Integer.parseInt(System.getenv("RPCBENCH_PORT")));
    var cpus = Runtime.getRuntime().availableProcessors();
    var certificate = System.getenv("RPCBENCH_TLS_PKCS12");
    try {
      var server = certificate == null ? plain(address, cpus) : secure(address, certificate);
      var serving = Thread.currentThread();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(server, serving)));
      server.serve();
    } catch (TTransportException
        | IOException
        | GeneralSecurityException
        | IllegalArgumentException error) {
      // The library reports that it failed; the cause says why.
      var reason = error.getCause() == null ? error : error.getCause();
      System.err.println("java-thrift: cannot listen on " + address + ": " + reason);
      System.exit(1);
    }
  }

  private static TServer plain(InetSocketAddress address, int cpus) throws TTransportException {
    var listener =
        new TNonblockingServerSocket(
            new NonblockingAbstractServerSocketArgs().bindAddr(address).backlog(BACKLOG));
    // Handlers run on separate threads, since a real service may block. Everything else is the
    // library's default: framed transport, frames up to 16 MB, TCP_NODELAY.
    return new TThreadedSelectorServer(
        new TThreadedSelectorServer.Args(listener)
            .protocolFactory(new TBinaryProtocol.Factory())
            .processor(new Echo.Processor<>(new Handler()))
            .selectorThreads(cpus)
            .workerThreads(cpus)
            .stopTimeoutVal(DRAIN_SECONDS));
  }

  /** A thread per connection: the library has TLS only for blocking sockets. */
  private static TServer secure(InetSocketAddress address, String certificate)
      throws IOException, GeneralSecurityException, TTransportException {
    return new TThreadPoolServer(
        new TThreadPoolServer.Args(new TServerSocket(secureListener(address, certificate)))
            .transportFactory(new TFramedTransport.Factory())
            .protocolFactory(new TBinaryProtocol.Factory())
            .processor(new Echo.Processor<>(new Handler()))
            .stopTimeoutVal(DRAIN_SECONDS));
  }

  /** TLS by the JDK, with its defaults. The library's TLS listener has a shorter accept queue. */
  private static ServerSocket secureListener(InetSocketAddress address, String certificate)
      throws IOException, GeneralSecurityException {
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(KeyStore.getInstance(new File(certificate), PASSWORD), PASSWORD);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context
        .getServerSocketFactory()
        .createServerSocket(address.getPort(), BACKLOG, address.getAddress());
  }

  private static void stop(TServer server, Thread serving) {
    server.stop();
    try {
      serving.join(TimeUnit.SECONDS.toMillis(DRAIN_SECONDS + 1));
    } catch (InterruptedException interrupted) {
      // The JVM exits anyway.
    }
  }
}
