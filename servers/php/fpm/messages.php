<?php

declare(strict_types=1);

// The contract's messages. In JSON, 64-bit integers are decimal strings, and bytes are base64; types that json_encode would write
// differently are JsonSerializable.

namespace Rpcbench;

/** The input is not a valid message. */
final class Invalid extends \Exception
{
}

/** Reads members of objects, and refuses those of another type. Objects are arrays, since PHP's objects can't have every key. */
final class Read
{
    public static function value(mixed $object, string $name): mixed
    {
        if (!is_array($object) || !isset($object[$name])) {
            throw new Invalid("$name is missing");
        }
        return $object[$name];
    }

    public static function optional(mixed $object, string $name): mixed
    {
        return is_array($object) ? $object[$name] ?? null : throw new Invalid('not an object');
    }

    public static function string(mixed $object, string $name): string
    {
        $value = self::value($object, $name);
        return is_string($value) ? $value : throw new Invalid("$name is not a string");
    }

    public static function int32(mixed $object, string $name): int
    {
        $value = self::value($object, $name);
        $fits = is_int($value) && $value >= -(2 ** 31) && $value < 2 ** 31;
        return $fits ? $value : throw new Invalid("$name is not an int32");
    }

    public static function bool(mixed $object, string $name): bool
    {
        $value = self::value($object, $name);
        return is_bool($value) ? $value : throw new Invalid("$name is not a boolean");
    }

    public static function double(mixed $object, string $name): float
    {
        $value = self::value($object, $name);
        return is_float($value) || is_int($value) ? (float) $value : throw new Invalid("$name is not a number");
    }

    public static function list(mixed $object, string $name): array
    {
        $value = self::value($object, $name);
        return is_array($value) && array_is_list($value) ? $value : throw new Invalid("$name is not a list");
    }

    public static function map(mixed $object, string $name): array
    {
        $value = self::value($object, $name);
        return is_array($value) ? $value : throw new Invalid("$name is not a map");
    }
}

final readonly class Int64 implements \JsonSerializable
{
    public function __construct(public int $value)
    {
    }

    public static function decode(mixed $text): self
    {
        $value = is_string($text) ? filter_var($text, FILTER_VALIDATE_INT) : false;
        return $value !== false ? new self($value) : throw new Invalid('not an int64');
    }

    public function jsonSerialize(): string
    {
        return (string) $this->value;
    }
}

/** PHP's integers end below 2^63. */
final readonly class Uint64 implements \JsonSerializable
{
    public function __construct(public \GMP $value)
    {
    }

    public static function decode(mixed $text): self
    {
        if (!is_string($text) || !preg_match('/^\d{1,20}$/D', $text)) {
            throw new Invalid('not a uint64');
        }
        $value = gmp_init($text, 10);
        return gmp_cmp($value, gmp_pow(2, 64)) < 0 ? new self($value) : throw new Invalid('not a uint64');
    }

    public function jsonSerialize(): string
    {
        return gmp_strval($this->value);
    }
}

final readonly class Bytes implements \JsonSerializable
{
    public function __construct(public string $value)
    {
    }

    public static function decode(string $text): self
    {
        $value = base64_decode($text, true);
        return $value !== false ? new self($value) : throw new Invalid('not base64');
    }

    public function jsonSerialize(): string
    {
        return base64_encode($this->value);
    }
}

final readonly class TextRequest
{
    public function __construct(public string $text)
    {
    }

    public static function decode(mixed $object): self
    {
        return new self(Read::string($object, 'text'));
    }
}

final readonly class RecordRequest
{
    public function __construct(public FlatRecord $record)
    {
    }

    public static function decode(mixed $object): self
    {
        return new self(FlatRecord::decode(Read::value($object, 'record')));
    }
}

final readonly class DtoRequest
{
    public function __construct(public PropertyDto $dto)
    {
    }

    public static function decode(mixed $object): self
    {
        return new self(PropertyDto::decode(Read::value($object, 'dto')));
    }
}

final readonly class TreeRequest
{
    public function __construct(public TreeNode $tree)
    {
    }

    public static function decode(mixed $object): self
    {
        return new self(TreeNode::decode(Read::value($object, 'tree')));
    }
}

final readonly class FlatRecord
{
    public function __construct(
        public string $field1,
        public int $field2,
        public int $field3,
        public string $field4,
        /** @var list<Uint64> */
        public array $field5,
        public int $field6,
        public string $field7,
        public string $field9,
        public bool $field12,
        public bool $field13,
        public bool $field14,
        public int $field16,
        public bool $field17,
        public string $field18,
        public Int64 $field22,
        public int $field23,
        public bool $field24,
        public int $field25,
        public int $field29,
        public bool $field30,
        public bool $field59,
        public int $field60,
        public int $field67,
        public int $field68,
        public bool $field78,
        public bool $field80,
        public bool $field81,
        public int $field100,
        public int $field101,
        public string $field102,
        public string $field103,
        public int $field104,
        public int $field128,
        public string $field129,
        public int $field130,
        public int $field131,
        public int $field150,
        public int $field271,
        public int $field272,
        public int $field280,
    ) {
    }

    public static function decode(mixed $object): self
    {
        return new self(
            Read::string($object, 'field1'),
            Read::int32($object, 'field2'),
            Read::int32($object, 'field3'),
            Read::string($object, 'field4'),
            array_map(Uint64::decode(...), Read::list($object, 'field5')),
            Read::int32($object, 'field6'),
            Read::string($object, 'field7'),
            Read::string($object, 'field9'),
            Read::bool($object, 'field12'),
            Read::bool($object, 'field13'),
            Read::bool($object, 'field14'),
            Read::int32($object, 'field16'),
            Read::bool($object, 'field17'),
            Read::string($object, 'field18'),
            Int64::decode(Read::value($object, 'field22')),
            Read::int32($object, 'field23'),
            Read::bool($object, 'field24'),
            Read::int32($object, 'field25'),
            Read::int32($object, 'field29'),
            Read::bool($object, 'field30'),
            Read::bool($object, 'field59'),
            Read::int32($object, 'field60'),
            Read::int32($object, 'field67'),
            Read::int32($object, 'field68'),
            Read::bool($object, 'field78'),
            Read::bool($object, 'field80'),
            Read::bool($object, 'field81'),
            Read::int32($object, 'field100'),
            Read::int32($object, 'field101'),
            Read::string($object, 'field102'),
            Read::string($object, 'field103'),
            Read::int32($object, 'field104'),
            Read::int32($object, 'field128'),
            Read::string($object, 'field129'),
            Read::int32($object, 'field130'),
            Read::int32($object, 'field131'),
            Read::int32($object, 'field150'),
            Read::int32($object, 'field271'),
            Read::int32($object, 'field272'),
            Read::int32($object, 'field280'),
        );
    }
}

final readonly class PropertyDto
{
    public function __construct(
        public string $prop1,
        public string $prop2,
        public string $prop3,
        public int $prop4,
        public int $prop5,
        public int $prop6,
        public float $prop7,
        public float $prop8,
        public float $prop9,
        public bool $prop10,
        public bool $prop11,
        public bool $prop12,
    ) {
    }

    public static function decode(mixed $object): self
    {
        return new self(
            Read::string($object, 'prop1'),
            Read::string($object, 'prop2'),
            Read::string($object, 'prop3'),
            Read::int32($object, 'prop4'),
            Read::int32($object, 'prop5'),
            Read::int32($object, 'prop6'),
            Read::double($object, 'prop7'),
            Read::double($object, 'prop8'),
            Read::double($object, 'prop9'),
            Read::bool($object, 'prop10'),
            Read::bool($object, 'prop11'),
            Read::bool($object, 'prop12'),
        );
    }
}

enum Status: string
{
    case Unspecified = 'STATUS_UNSPECIFIED';
    case Active = 'STATUS_ACTIVE';
    case Suspended = 'STATUS_SUSPENDED';
    case Closed = 'STATUS_CLOSED';
}

final readonly class Tag
{
    public function __construct(public string $key, public string $value)
    {
    }

    public static function decode(mixed $object): self
    {
        return new self(Read::string($object, 'key'), Read::string($object, 'value'));
    }
}

final readonly class Branch
{
    /** @param list<Tag> $tags */
    public function __construct(public string $name, public Uint64 $id, public array $tags)
    {
    }

    public static function decode(mixed $object): self
    {
        return new self(
            Read::string($object, 'name'),
            Uint64::decode(Read::value($object, 'id')),
            array_map(Tag::decode(...), Read::list($object, 'tags')),
        );
    }
}

final readonly class TreeNode implements \JsonSerializable
{
    /** @param array<string, Int64> $counters */
    public function __construct(
        public string $name,
        public Bytes $digest,
        public int $age,
        public Int64 $balance,
        public Uint64 $serial,
        public float $score,
        public float $ratio,
        public bool $active,
        public Status $status,
        public ?string $email,
        public ?Uint64 $phone,
        public ?Branch $left,
        public ?Branch $right,
        public array $counters,
    ) {
        if ($email !== null && $phone !== null) {
            throw new Invalid('email and phone exclude each other');
        }
    }

    public static function decode(mixed $object): self
    {
        $phone = Read::optional($object, 'phone');
        $left = Read::optional($object, 'left');
        $right = Read::optional($object, 'right');
        return new self(
            Read::string($object, 'name'),
            Bytes::decode(Read::string($object, 'digest')),
            Read::int32($object, 'age'),
            Int64::decode(Read::value($object, 'balance')),
            Uint64::decode(Read::value($object, 'serial')),
            Read::double($object, 'score'),
            Read::double($object, 'ratio'),
            Read::bool($object, 'active'),
            Status::tryFrom(Read::string($object, 'status')) ?? throw new Invalid('unknown status'),
            Read::optional($object, 'email') === null ? null : Read::string($object, 'email'),
            $phone === null ? null : Uint64::decode($phone),
            $left === null ? null : Branch::decode($left),
            $right === null ? null : Branch::decode($right),
            array_map(Int64::decode(...), Read::map($object, 'counters')),
        );
    }

    public function jsonSerialize(): array
    {
        $present = array_filter(get_object_vars($this), fn (mixed $member) => $member !== null);
        // PHP encodes an array with a list's keys as a list, unless it is an object, which in turn can't have keys that begin with NUL.
        $counters = array_is_list($this->counters) ? (object) $this->counters : $this->counters;
        return ['counters' => $counters] + $present;
    }
}
