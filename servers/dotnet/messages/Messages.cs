using System.Text.Json;
using System.Text.Json.Serialization;

namespace Rpcbench;

// The contract's messages for System.Text.Json.

public record TextRequest(string Text);

public record TextReply(string Echo);

public record RecordRequest(FlatRecord Record);

public record RecordReply(FlatRecord Echo);

public record DtoRequest(PropertyDto Dto);

public record DtoReply(PropertyDto Echo);

public record TreeRequest(TreeNode Tree);

public record TreeReply(TreeNode Echo);

public class FlatRecord
{
    private const JsonNumberHandling Decimal = Messages.Decimal;

    public string Field1 { get; set; } = "";
    public int Field2 { get; set; }
    public int Field3 { get; set; }
    public string Field4 { get; set; } = "";

    [JsonNumberHandling(Decimal)]
    public List<ulong> Field5 { get; set; } = [];

    public int Field6 { get; set; }
    public string Field7 { get; set; } = "";
    public string Field9 { get; set; } = "";
    public bool Field12 { get; set; }
    public bool Field13 { get; set; }
    public bool Field14 { get; set; }
    public int Field16 { get; set; }
    public bool Field17 { get; set; }
    public string Field18 { get; set; } = "";

    [JsonNumberHandling(Decimal)]
    public long Field22 { get; set; }

    public int Field23 { get; set; }
    public bool Field24 { get; set; }
    public int Field25 { get; set; }
    public int Field29 { get; set; }
    public bool Field30 { get; set; }
    public bool Field59 { get; set; }
    public int Field60 { get; set; }
    public int Field67 { get; set; }
    public int Field68 { get; set; }
    public bool Field78 { get; set; }
    public bool Field80 { get; set; }
    public bool Field81 { get; set; }
    public int Field100 { get; set; }
    public int Field101 { get; set; }
    public string Field102 { get; set; } = "";
    public string Field103 { get; set; } = "";
    public int Field104 { get; set; }
    public int Field128 { get; set; }
    public string Field129 { get; set; } = "";
    public int Field130 { get; set; }
    public int Field131 { get; set; }
    public int Field150 { get; set; }
    public int Field271 { get; set; }
    public int Field272 { get; set; }
    public int Field280 { get; set; }
}

public class PropertyDto
{
    public string Prop1 { get; set; } = "";
    public string Prop2 { get; set; } = "";
    public string Prop3 { get; set; } = "";
    public int Prop4 { get; set; }
    public int Prop5 { get; set; }
    public int Prop6 { get; set; }
    public double Prop7 { get; set; }
    public double Prop8 { get; set; }
    public double Prop9 { get; set; }
    public bool Prop10 { get; set; }
    public bool Prop11 { get; set; }
    public bool Prop12 { get; set; }
}

public enum Status
{
    [JsonStringEnumMemberName("STATUS_UNSPECIFIED")]
    Unspecified,

    [JsonStringEnumMemberName("STATUS_ACTIVE")]
    Active,

    [JsonStringEnumMemberName("STATUS_SUSPENDED")]
    Suspended,

    [JsonStringEnumMemberName("STATUS_CLOSED")]
    Closed,
}

public class Tag
{
    public string Key { get; set; } = "";
    public string Value { get; set; } = "";
}

public class Branch
{
    public string Name { get; set; } = "";

    [JsonNumberHandling(Messages.Decimal)]
    public ulong Id { get; set; }

    public List<Tag> Tags { get; set; } = [];
}

public class TreeNode : IJsonOnDeserialized
{
    public string Name { get; set; } = "";
    public byte[] Digest { get; set; } = [];
    public int Age { get; set; }

    [JsonNumberHandling(Messages.Decimal)]
    public long Balance { get; set; }

    [JsonNumberHandling(Messages.Decimal)]
    public ulong Serial { get; set; }

    public double Score { get; set; }
    public float Ratio { get; set; }
    public bool Active { get; set; }
    public Status Status { get; set; }
    public string? Email { get; set; }

    [JsonNumberHandling(Messages.Decimal)]
    public ulong? Phone { get; set; }

    public Branch? Left { get; set; }
    public Branch? Right { get; set; }

    [JsonNumberHandling(Messages.Decimal)]
    public Dictionary<string, long> Counters { get; set; } = [];

    void IJsonOnDeserialized.OnDeserialized()
    {
        if (Email is not null && Phone is not null)
        {
            throw new JsonException("email and phone exclude each other");
        }
    }
}

internal static class Messages
{
    /// <summary>64-bit integers are decimal strings.</summary>
    public const JsonNumberHandling Decimal = JsonNumberHandling.AllowReadingFromString | JsonNumberHandling.WriteAsString;

    /// <summary>Refuses values of a wrong type and missing required values, some of which the web defaults accept.</summary>
    public static void Strict(JsonSerializerOptions options)
    {
        options.NumberHandling = JsonNumberHandling.Strict;
        options.RespectNullableAnnotations = true;
        options.RespectRequiredConstructorParameters = true;
        options.DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull;
        options.Converters.Add(new JsonStringEnumConverter<Status>(namingPolicy: null, allowIntegerValues: false));
    }
}
