// Calls the contract's service with grpc-kotlin: a coroutine for each call in flight.
package dev.rpcbench.client.kotlin

import dev.rpcbench.client.Driver
import dev.rpcbench.client.Library
import dev.rpcbench.client.grpc.Channel
import dev.rpcbench.client.grpc.Methods
import dev.rpcbench.client.grpc.Stubs
import dev.rpcbench.v1.EchoGrpcKt.EchoCoroutineStub
import io.grpc.kotlin.AbstractCoroutineStub
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch

// The dispatcher of the server's coroutines.
private val calls = CoroutineScope(Dispatchers.Default)

private fun <Q, R> exchange(call: suspend (EchoCoroutineStub, Q) -> R) =
    Library.Exchange<Channel<EchoCoroutineStub>, Q, R> { channel, request, done ->
        calls.launch {
            val reply = runCatching { call(channel.call(), request) }
            reply.fold(done::reply, done::error)
        }
    }

fun main() {
    val methods =
        Methods.of<Channel<EchoCoroutineStub>>(
            exchange { stub, request -> stub.text(request) },
            exchange { stub, request -> stub.record(request) },
            exchange { stub, request -> stub.dto(request) },
            exchange { stub, request -> stub.tree(request) },
        )
    Driver.run(
        "Kotlin",
        Stubs.library("grpc-kotlin", AbstractCoroutineStub::class.java, false, { EchoCoroutineStub(it) }, methods),
    )
}
