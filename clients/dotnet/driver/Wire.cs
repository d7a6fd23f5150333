using System.Buffers.Binary;
using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Rpcbench;

/// <summary>Frames to and from rpcbench.</summary>
internal sealed class Wire(Socket socket)
{
    private const int KindMessage = 1;
    private const int KindRecords = 2;
    private const int HeaderBytes = 8;
    private const int RecordBytes = 24;
    // Payload of a full frame of records.
    private const int RecordsBytes = 4096 / RecordBytes * RecordBytes;
    private const int MaxFrame = 65536;

    private readonly Lock guard = new();
    // A frame of records that is not full yet, with space for its header.
    private readonly byte[] records = new byte[HeaderBytes + RecordsBytes];
    private int used = HeaderBytes;

    /// <summary>Adds a call that ended.</summary>
    public void Record(long start, long done, uint call, Outcome outcome)
    {
        lock (guard)
        {
            var record = records.AsSpan(used, RecordBytes);
            BinaryPrimitives.WriteInt64LittleEndian(record, start);
            BinaryPrimitives.WriteInt64LittleEndian(record[8..], done);
            BinaryPrimitives.WriteUInt32LittleEndian(record[16..], call);
            record[20] = outcome.Kind;
            record[21] = 0;
            BinaryPrimitives.WriteUInt16LittleEndian(record[22..], outcome.Status);
            used += RecordBytes;
            if (used == records.Length)
            {
                WriteRecords();
            }
        }
    }

    /// <summary>Sends the pending records.</summary>
    public void Flush()
    {
        lock (guard)
        {
            WriteRecords();
        }
    }

    /// <summary>Sends a message after the pending records.</summary>
    public void Send(string type, params ReadOnlySpan<(string Key, JsonNode? Value)> fields)
    {
        var message = new JsonObject { ["type"] = type };
        foreach (var (key, value) in fields)
        {
            message[key] = value;
        }
        var text = JsonSerializer.SerializeToUtf8Bytes(message);
        var frame = new byte[HeaderBytes + text.Length];
        text.CopyTo(frame, HeaderBytes);
        lock (guard)
        {
            WriteRecords();
            Write(frame, KindMessage);
        }
    }

    private void WriteRecords()
    {
        if (used > HeaderBytes)
        {
            Write(records.AsSpan(0, used), KindRecords);
            used = HeaderBytes;
        }
    }

    // Fills in the header and writes a frame. Ends the program if rpcbench has closed the socket.
    private void Write(Span<byte> frame, int kind)
    {
        BinaryPrimitives.WriteInt32LittleEndian(frame, frame.Length - HeaderBytes);
        BinaryPrimitives.WriteInt32LittleEndian(frame[4..], kind);
        try
        {
            for (ReadOnlySpan<byte> rest = frame; rest.Length > 0;)
            {
                rest = rest[socket.Send(rest)..];
            }
        }
        catch (SocketException)
        {
            Environment.Exit(0);
        }
    }

    /// <summary>Reads the next message. Null if rpcbench has closed the socket, even within a message.</summary>
    public JsonNode? Read()
    {
        var header = new byte[HeaderBytes];
        if (!Fill(header))
        {
            return null;
        }
        var length = BinaryPrimitives.ReadUInt32LittleEndian(header);
        var kind = BinaryPrimitives.ReadUInt32LittleEndian(header.AsSpan(4));
        if (kind != KindMessage || length > MaxFrame)
        {
            throw new InvalidDataException(
                $"a frame of kind {kind} with {length} bytes; expected kind {KindMessage} with at most {MaxFrame}");
        }
        var text = new byte[length];
        return Fill(text) ? JsonNode.Parse(text) : null;
    }

    private bool Fill(Span<byte> bytes)
    {
        try
        {
            while (bytes.Length > 0)
            {
                var count = socket.Receive(bytes);
                if (count == 0)
                {
                    return false;
                }
                bytes = bytes[count..];
            }
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
