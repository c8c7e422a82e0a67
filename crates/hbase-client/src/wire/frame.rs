//! Preamble, and the frames of calls and answers: a length of four bytes, a header, a message, and maybe a block of cells.

use crate::error::{Error, Exception};
use crate::messages::rpc::{CellBlockMeta, ConnectionHeader, RequestHeader, ResponseHeader, UserInformation, VersionInfo};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;
use prost::encoding::{decode_varint, encode_varint};

/// The only codec of cells that is used: whole KeyValues without tags.
const CODEC: &str = "org.apache.hadoop.hbase.codec.KeyValueCodec";

/// A call before it has a number.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    /// The message behind its length.
    pub(crate) message: Bytes,
    /// The block of cells, in pieces.
    pub(crate) cells: Vec<Bytes>,
    pub(crate) priority: Option<u32>,
}

impl Request {
    pub(crate) fn new(method: &'static str, message: &impl Message) -> Request {
        Request::with_cells(method, message, Vec::new())
    }

    pub(crate) fn with_cells(method: &'static str, message: &impl Message, cells: Vec<Bytes>) -> Request {
        Request { method, message: message.encode_length_delimited_to_vec().into(), cells, priority: None }
    }

    fn cells_len(&self) -> usize {
        self.cells.iter().map(Bytes::len).sum()
    }

    /// About how long the frame will be.
    pub(crate) fn len(&self) -> usize {
        64 + self.message.len() + self.cells_len()
    }

    /// What stands before the message and the cells.
    pub(crate) fn head(&self, call_id: u32, timeout_ms: u32) -> Result<Bytes, Error> {
        let cells = self.cells_len();
        let too_large = || Error::TooLarge { what: "a request".to_owned(), size: self.len() as u64, limit: i32::MAX as u64 };
        let block = if cells == 0 { None } else { Some(u32::try_from(cells).map_err(|_| too_large())?) };
        let header = RequestHeader {
            call_id: Some(call_id),
            method_name: Some(self.method.to_owned()),
            request_param: Some(true),
            cell_block_meta: block.map(|length| CellBlockMeta { length: Some(length) }),
            priority: self.priority,
            timeout: Some(timeout_ms),
        };
        let header_len = header.encoded_len();
        let mut head = BytesMut::with_capacity(header_len + 16);
        head.put_u32(0);
        encode_varint(header_len as u64, &mut head);
        header.encode(&mut head).map_err(|_| Error::Protocol("a header of a call does not fit".to_owned()))?;
        let total = head.len() - 4 + self.message.len() + cells;
        let total = i32::try_from(total).map_err(|_| too_large())?;
        head[..4].copy_from_slice(&total.to_be_bytes());
        Ok(head.freeze())
    }
}

/// What is sent first on a connection.
pub(crate) fn preamble(user: &str, service: &str) -> Bytes {
    let header = ConnectionHeader {
        user_info: Some(UserInformation { effective_user: user.to_owned() }),
        service_name: Some(service.to_owned()),
        cell_block_codec_class: Some(CODEC.to_owned()),
        version_info: Some(VersionInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            url: String::new(),
            revision: String::new(),
            user: user.to_owned(),
            date: String::new(),
            src_checksum: String::new(),
            // From which version on the servers send what we read: sizes of answers, partial rows, heartbeats.
            version_major: Some(2),
            version_minor: Some(5),
        }),
    };
    let mut out = BytesMut::new();
    // Version 0, simple authentication.
    out.put_slice(b"HBas\x00\x50");
    out.put_u32(header.encoded_len() as u32);
    out.put_slice(&header.encode_to_vec());
    out.freeze()
}

/// An answer: the message, not yet read, and the cells beside it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Response {
    pub(crate) message: Bytes,
    pub(crate) cells: Bytes,
}

impl Response {
    pub(crate) fn read<M: Message + Default>(&self) -> Result<M, Error> {
        M::decode(self.message.clone()).map_err(|e| Error::Protocol(format!("an answer is not what was asked for: {e}")))
    }
}

/// Takes a length and as many bytes.
fn take_delimited(frame: &mut Bytes, what: &str) -> Result<Bytes, Error> {
    let length = decode_varint(frame).map_err(|_| Error::Protocol(format!("{what} has no length")))?;
    match usize::try_from(length) {
        Ok(length) if length <= frame.len() => Ok(frame.split_to(length)),
        _ => Err(Error::Protocol(format!("{what} of {length} bytes is cut off at {}", frame.len()))),
    }
}

/// Which call a frame answers, and with what. `frame` is what stands behind the length.
pub(crate) fn read_response(mut frame: Bytes) -> Result<(u32, Result<Response, Error>), Error> {
    let header = take_delimited(&mut frame, "the header of an answer")?;
    let header = ResponseHeader::decode(header).map_err(|e| Error::Protocol(format!("the header of an answer: {e}")))?;
    let id = header.call_id.ok_or_else(|| Error::Protocol("an answer names no call".to_owned()))?;
    if let Some(exception) = &header.exception {
        return Ok((id, Err(Exception::from_response(exception).into())));
    }
    let body = || {
        // A message without fields may be left out.
        let message = if frame.is_empty() { Bytes::new() } else { take_delimited(&mut frame, "an answer")? };
        let expected = header.cell_block_meta.as_ref().and_then(|meta| meta.length).unwrap_or(0) as usize;
        if expected != frame.len() {
            return Err(Error::Protocol(format!("a block of {expected} bytes of cells has {}", frame.len())));
        }
        Ok(Response { message, cells: frame })
    };
    Ok((id, body()))
}

/// Which call a frame answers, from its beginning alone.
pub(crate) fn peek_call_id(start: &[u8]) -> Option<u32> {
    let mut rest = start;
    let length = usize::try_from(decode_varint(&mut rest).ok()?).ok()?;
    // The header's first field is the call's number: the rest of it may be cut off.
    let header = rest.get(..length.min(rest.len()))?;
    if let Ok(header) = ResponseHeader::decode(header) {
        return header.call_id;
    }
    let mut header = header;
    if !header.has_remaining() || header.get_u8() != 0x08 {
        return None;
    }
    u32::try_from(decode_varint(&mut header).ok()?).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Request, peek_call_id, preamble, read_response};
    use crate::error::Error;
    use crate::messages::client::GetRequest;
    use crate::messages::rpc::{CellBlockMeta, ExceptionResponse, RequestHeader, ResponseHeader};
    use bytes::{Buf, BufMut, Bytes, BytesMut};
    use prost::Message;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    /// A frame of an answer, without the length before it.
    pub(crate) fn answer(id: u32, exception: Option<ExceptionResponse>, message: Option<&[u8]>, cells: &[u8]) -> Bytes {
        let meta = (!cells.is_empty()).then_some(CellBlockMeta { length: Some(cells.len() as u32) });
        let header = ResponseHeader { call_id: Some(id), exception, cell_block_meta: meta };
        let mut out = BytesMut::new();
        out.put_slice(&header.encode_length_delimited_to_vec());
        if let Some(message) = message {
            prost::encoding::encode_varint(message.len() as u64, &mut out);
            out.put_slice(message);
        }
        out.put_slice(cells);
        out.freeze()
    }

    #[test]
    fn a_connection_opens_as_hbase_expects() {
        let mut bytes = preamble("me", "ClientService");
        assert_eq!(&bytes[..6], b"HBas\x00P");
        bytes.advance(6);
        assert_eq!(bytes.get_u32() as usize, bytes.len());
    }

    #[test]
    fn a_call_says_how_long_it_is() {
        let request = Request::with_cells("Get", &GetRequest::default(), vec![Bytes::from_static(b"abc"), Bytes::from_static(b"de")]);
        let head = request.head(7, 1000).unwrap();
        let mut rest = head.clone();
        assert_eq!(rest.get_u32() as usize, head.len() - 4 + request.message.len() + 5);
        let header = RequestHeader::decode_length_delimited(rest).unwrap();
        assert_eq!((header.call_id, header.timeout, header.method_name.as_deref()), (Some(7), Some(1000), Some("Get")));
        assert_eq!(header.cell_block_meta.unwrap().length, Some(5));
    }

    #[test]
    fn answers_are_taken_apart() {
        let (id, response) = read_response(answer(9, None, Some(b"m"), b"cells")).unwrap();
        let response = response.unwrap();
        assert_eq!((id, &response.message[..], &response.cells[..]), (9, &b"m"[..], &b"cells"[..]));
        let exception = ExceptionResponse { exception_class_name: Some("a.b.C".to_owned()), ..ExceptionResponse::default() };
        let (id, response) = read_response(answer(3, Some(exception), None, b"")).unwrap();
        assert_eq!((id, response.unwrap_err().to_string()), (3, "C".to_owned()));
        assert!(read_response(answer(9, None, None, b"")).unwrap().1.is_ok());
        assert_eq!(peek_call_id(&answer(300, None, Some(b"m"), b"cells")), Some(300));
        assert_eq!(peek_call_id(&answer(300, None, Some(b"m"), b"cells")[..5]), Some(300));
    }

    #[test]
    fn cut_and_changed_answers_are_errors() {
        let whole = answer(9, None, Some(b"message"), b"cells");
        let mut random = StdRng::seed_from_u64(5);
        for cut in 0..whole.len() {
            let read = read_response(whole.slice(..cut));
            assert!(!matches!(read, Ok((_, Ok(ref r))) if r.message.len() == 7), "{cut}");
            let _ = peek_call_id(&whole[..cut]);
        }
        for _ in 0..20_000 {
            let mut changed = whole.to_vec();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..changed.len());
                changed[at] = random.random();
            }
            if let Ok((_, Err(e))) = read_response(changed.clone().into()) {
                assert!(matches!(e, Error::Protocol(_) | Error::Exception(_)), "{e}");
            }
            let _ = peek_call_id(&changed);
        }
    }
}
