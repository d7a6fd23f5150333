package dev.rpcbench.client;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** Frames to and from rpcbench. */
final class Wire {
  private static final int MESSAGE = 1;
  private static final int RECORDS = 2;
  private static final int HEADER_BYTES = 8;
  private static final int RECORD_BYTES = 24;
  // Payload of a full frame of records.
  private static final int RECORDS_BYTES = 4096 / RECORD_BYTES * RECORD_BYTES;
  private static final int MAX_FRAME = 65_536;

  private final SocketChannel socket;
  // A frame of records that is not full yet, with space for its header.
  private final ByteBuffer records = buffer(HEADER_BYTES + RECORDS_BYTES).position(HEADER_BYTES);

  Wire(SocketChannel socket) {
    this.socket = socket;
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Adds a call that ended. */
  synchronized void record(long start, long done, int call, Outcome outcome) {
    records.putLong(start).putLong(done).putInt(call);
    records.put(outcome.kind()).put((byte) 0).putShort(outcome.status());
    if (!records.hasRemaining()) {
      flush();
    }
  }

  /** Sends the pending records. */
  synchronized void flush() {
    if (records.position() > HEADER_BYTES) {
      write(records, RECORDS);
      records.clear().position(HEADER_BYTES);
    }
  }

  /** Sends a message after the pending records. */
  synchronized void send(JsonObject message) {
    flush();
    var text = message.toString().getBytes(StandardCharsets.UTF_8);
    write(buffer(HEADER_BYTES + text.length).position(HEADER_BYTES).put(text), MESSAGE);
  }

  /** Fills in the header and writes a frame. Ends the program if rpcbench has closed the socket. */
  private void write(ByteBuffer frame, int kind) {
    frame.flip().putInt(0, frame.limit() - HEADER_BYTES).putInt(4, kind);
    try {
      while (frame.hasRemaining()) {
        socket.write(frame);
      }
    } catch (IOException closed) {
      Runtime.getRuntime().halt(0);
    }
  }

  /** Reads the next message. Throws EOFException if rpcbench has closed the socket. */
  JsonObject read() throws IOException {
    var header = fill(buffer(HEADER_BYTES));
    int length = header.getInt();
    int kind = header.getInt();
    if (kind != MESSAGE || length < 0 || length > MAX_FRAME) {
      var text = "a frame of kind %d with %d bytes; expected kind %d with at most %d";
      throw new IOException(text.formatted(kind, length, MESSAGE, MAX_FRAME));
    }
    var text = StandardCharsets.UTF_8.decode(fill(buffer(length))).toString();
    return JsonParser.parseString(text).getAsJsonObject();
  }

  private ByteBuffer fill(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (socket.read(buffer) < 0) {
        throw new EOFException();
      }
    }
    return buffer.flip();
  }
}
