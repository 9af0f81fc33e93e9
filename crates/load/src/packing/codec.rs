//! Compression and decompression of bodies.

use std::io::{self, Read, Write};

use flate2::{read::GzDecoder, write::GzEncoder};
use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use rabbitscope_runs::scenario::{Algorithm, Compression};

/// Largest decompressed body: the largest message of any release of RabbitMQ. A larger body is an error, so that a few
/// bytes of a hostile publisher cannot exhaust the machine's memory.
const MAX_PLAIN_BYTES: u64 = 512 << 20;

/// Compresses one body after another.
pub(crate) enum Compressor {
    Gzip(flate2::Compression),
    Lz4,
    /// Includes its tables, which are reused for every body.
    Zstd(Box<zstd::bulk::Compressor<'static>>),
}

/// Without memory the program ends before a write to memory can fail.
const INTO_MEMORY: &str = "compression into memory does not fail";

impl Compressor {
    pub(crate) fn new(compression: Compression) -> Self {
        let level = compression.level;
        match compression.algorithm {
            Algorithm::Gzip => Self::Gzip(flate2::Compression::new(level)),
            Algorithm::Lz4 => Self::Lz4,
            Algorithm::Zstd => {
                let level = i32::try_from(level).expect("levels are small");
                Self::Zstd(Box::new(zstd::bulk::Compressor::new(level).expect(INTO_MEMORY)))
            }
        }
    }

    /// Replaces the contents of `into` with the compressed `plain`.
    pub(crate) fn compress(&mut self, plain: &[u8], into: &mut Vec<u8>) {
        into.clear();
        match self {
            Self::Gzip(level) => {
                let mut encoder = GzEncoder::new(into, *level);
                encoder.write_all(plain).expect(INTO_MEMORY);
                encoder.finish().expect(INTO_MEMORY);
            }
            Self::Lz4 => {
                let mut encoder = FrameEncoder::new(into);
                encoder.write_all(plain).expect(INTO_MEMORY);
                encoder.finish().expect(INTO_MEMORY);
            }
            Self::Zstd(compressor) => {
                into.reserve(zstd::compress_bound(plain.len()));
                compressor.compress_to_buffer(plain, into).expect(INTO_MEMORY);
            }
        }
    }
}

/// Replaces the contents of `into` with the decompressed body.
pub(crate) fn decompress(
    algorithm: Algorithm,
    compressed: &[u8],
    into: &mut Vec<u8>,
) -> io::Result<()> {
    into.clear();
    match algorithm {
        Algorithm::Gzip => read_all(GzDecoder::new(compressed), into),
        Algorithm::Lz4 => read_all(FrameDecoder::new(compressed), into),
        Algorithm::Zstd => read_all(zstd::stream::read::Decoder::with_buffer(compressed)?, into),
    }
}

fn read_all(decoder: impl Read, into: &mut Vec<u8>) -> io::Result<()> {
    let mut bounded = decoder.take(MAX_PLAIN_BYTES + 1);
    if bounded.read_to_end(into)? as u64 > MAX_PLAIN_BYTES {
        return Err(io::Error::other("more than 512 MiB after decompression"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back_at_every_level() {
        let plain: Vec<u8> =
            (0..20_000_u32).flat_map(|number| (number / 7).to_be_bytes()).collect();
        for algorithm in Algorithm::ALL {
            let (first, last, _) = algorithm.levels();
            for level in first..=last {
                let mut compressor = Compressor::new(Compression { algorithm, level });
                let (mut packed, mut back) = (vec![9; 5], vec![9; 5]);
                for body in [&plain[..], &[], &plain[..100]] {
                    compressor.compress(body, &mut packed);
                    decompress(algorithm, &packed, &mut back).unwrap();
                    assert_eq!(back, body, "{algorithm:?} {level}");
                }
                compressor.compress(&plain, &mut packed);
                assert!(level == 0 || packed.len() < plain.len() / 2, "{algorithm:?} {level}");
            }
        }
    }

    #[test]
    fn what_is_broken_is_an_error() {
        for algorithm in Algorithm::ALL {
            let level = algorithm.levels().2;
            let mut compressor = Compressor::new(Compression { algorithm, level });
            let (mut packed, mut back) = (Vec::new(), Vec::new());
            compressor.compress(&[7; 5000], &mut packed);
            for broken in [&packed[..packed.len() / 2], &packed[2..], b"no such thing"] {
                assert!(decompress(algorithm, broken, &mut back).is_err(), "{algorithm:?}");
            }
        }
    }
}
