//! Header blocks of literal fields without indexing (RFC 7541, section 6.2.2), which do not depend on the tables.

/// A block with these fields, without Huffman coding.
pub fn literal(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        string(&mut block, name);
        string(&mut block, value);
    }
    block
}

/// A block that starts a gRPC reply.
pub fn response_headers() -> Vec<u8> {
    literal(&[(":status", "200"), ("content-type", "application/grpc")])
}

/// A block that ends a gRPC reply.
pub fn trailers(grpc_status: u32) -> Vec<u8> {
    literal(&[("grpc-status", &grpc_status.to_string())])
}

/// A dynamic table size update, for the start of a block.
pub fn table_size(bytes: u32) -> Vec<u8> {
    let mut block = Vec::new();
    integer(&mut block, 0x20, 5, bytes as usize);
    block
}

fn string(block: &mut Vec<u8>, text: &str) {
    integer(block, 0, 7, text.len());
    block.extend(text.as_bytes());
}

/// An integer whose first byte holds `pattern` above `bits` bits of prefix (RFC 7541, section 5.1).
fn integer(block: &mut Vec<u8>, pattern: u8, bits: u32, value: usize) {
    let full = (1_usize << bits) - 1;
    if value < full {
        block.push(pattern | value as u8);
        return;
    }
    block.push(pattern | full as u8);
    let mut rest = value - full;
    while rest >= 0x80 {
        block.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    block.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_the_rfc() {
        let encode = |bits, value| {
            let mut block = Vec::new();
            integer(&mut block, 0, bits, value);
            block
        };
        assert_eq!(encode(5, 10), [10]);
        assert_eq!(encode(5, 1337), [31, 154, 10]);
        assert_eq!(encode(8, 42), [42]);
        assert_eq!(table_size(0), [0x20]);
        assert_eq!(table_size(4096), [0x3f, 0xe1, 0x1f]);
    }

    #[test]
    fn field_is_encoded_as_two_strings() {
        assert_eq!(literal(&[("a", "bc")]), b"\0\x01a\x02bc");
        let long = "x".repeat(200);
        assert_eq!(literal(&[("a", &long)])[..5], [0, 1, b'a', 0x7f, 200 - 127]);
    }
}
