// The contract's service on Thrift, with handlers as coroutines. The launcher has checked the settings in the environment.
package dev.rpcbench.thrift

import dev.rpcbench.v1.DtoReply
import dev.rpcbench.v1.DtoRequest
import dev.rpcbench.v1.Echo
import dev.rpcbench.v1.EchoProcessor
import dev.rpcbench.v1.RecordReply
import dev.rpcbench.v1.RecordRequest
import dev.rpcbench.v1.TextReply
import dev.rpcbench.v1.TextRequest
import dev.rpcbench.v1.TreeReply
import dev.rpcbench.v1.TreeRequest
import java.net.InetSocketAddress
import kotlin.concurrent.thread
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import org.apache.thrift.protocol.TBinaryProtocol
import org.apache.thrift.server.TThreadedSelectorServer
import org.apache.thrift.transport.TNonblockingServerSocket
import org.apache.thrift.transport.TNonblockingServerSocket.NonblockingAbstractServerSocketArgs
import org.apache.thrift.transport.TTransportException

/** How long calls in flight may take after SIGTERM. */
private val DRAIN_TIMEOUT = 2.seconds

/** Length of the accept queue, up to the kernel's maximum. The default is 50. */
private const val BACKLOG = 4096

private object Handler : Echo {
    override suspend fun Text(request: TextRequest) = TextReply(request.text)

    override suspend fun Record(request: RecordRequest) = RecordReply(request.record)

    override suspend fun Dto(request: DtoRequest) = DtoReply(request.dto)

    override suspend fun Tree(request: TreeRequest) = TreeReply(request.tree)
}

/** Selector threads decode calls and start their coroutines. Everything else is the library's default. */
private fun server(address: InetSocketAddress): TThreadedSelectorServer {
    val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    val listener = TNonblockingServerSocket(NonblockingAbstractServerSocketArgs().bindAddr(address).backlog(BACKLOG))
    return TThreadedSelectorServer(
        TThreadedSelectorServer.Args(listener)
            .protocolFactory(TBinaryProtocol.Factory())
            .processor(EchoProcessor(Handler, scope))
            .selectorThreads(Runtime.getRuntime().availableProcessors())
            .workerThreads(0)
            .stopTimeoutVal(DRAIN_TIMEOUT.inWholeSeconds.toInt())
    )
}

fun main() {
    val address = InetSocketAddress(System.getenv("RPCBENCH_HOST"), System.getenv("RPCBENCH_PORT").toInt())
    try {
        val server = server(address)
        val serving = Thread.currentThread()
        Runtime.getRuntime()
            .addShutdownHook(
                thread(start = false) {
                    server.stop()
                    serving.join(DRAIN_TIMEOUT.inWholeMilliseconds)
                }
            )
        server.serve()
    } catch (error: TTransportException) {
        // The library reports that it failed; the cause says why.
        System.err.println("kotlin-thrift: cannot listen on $address: ${error.cause ?: error}")
        exitProcess(1)
    }
}
