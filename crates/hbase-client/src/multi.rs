//! Many gets and mutations at once: one call a server and thousand or so, in parallel.
//!
//! Invariant: every action gets its own answer, in its own place; those that fail for a reason that passes are tried again by themselves,
//! while the others are under way or done. No action waits for the region of another.

use crate::call::{Core, Repeat, Target, Tries};
use crate::connection::{Lane, Service};
use crate::error::{Error, Exception};
use crate::get::Get;
use crate::messages::client::{Action as ActionMessage, MultiRequest, MultiResponse, RegionAction, RegionActionResult};
use crate::mutation::Mutation;
use crate::names::ServerName;
use crate::regions::{Region, Side};
use crate::row::{Row, read_result};
use crate::wire::cell::Cells;
use crate::wire::frame::{Request, Response};
use bytes::Bytes;
use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt, join_all};
use futures::stream::FuturesUnordered;
use hashbrown::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The most mutations of one call, and the most gets: a server works one call off on one thread.
const MUTATIONS: usize = 1_000;
const GETS: usize = 128;

/// One of many.
#[derive(Debug, Clone)]
pub enum Action {
    Get(Get),
    Mutate(Mutation),
}

impl Action {
    fn row(&self) -> &Bytes {
        match self {
            Action::Get(get) => &get.row,
            Action::Mutate(mutation) => &mutation.row,
        }
    }

    fn size(&self) -> usize {
        match self {
            Action::Get(get) => get.row.len() + 64,
            Action::Mutate(mutation) => mutation.row.len() + mutation.size() + 32,
        }
    }

    fn repeat(&self) -> Repeat {
        match self {
            Action::Get(_) => Repeat::Read,
            Action::Mutate(mutation) if mutation.is_harmless() => Repeat::Harmless,
            Action::Mutate(_) => Repeat::Never,
        }
    }
}

type Answer = Result<Option<Row>, Error>;

/// What is left to do of some actions, by their numbers.
enum Step {
    /// Ready to be sent.
    Located(Vec<(usize, Arc<Region>)>, Vec<(usize, Error)>),
    /// Answered, or not.
    Answered(Vec<(usize, Answer)>),
}

/// Carries all of them out. The answer to a mutation is `None`.
pub(crate) async fn multi(core: &Core, target: &Target, actions: &[Action], deadline: Instant) -> Vec<Answer> {
    let mut answers: Vec<Option<Answer>> = Vec::with_capacity(actions.len());
    let mut tries: Vec<Tries> = Vec::with_capacity(actions.len());
    for action in actions {
        let refused = if let Action::Mutate(mutation) = action { mutation.check().err() } else { None };
        answers.push(refused.map(Err));
        tries.push(Tries::new("batch", action.repeat(), deadline));
    }
    let all: Vec<usize> = (0..actions.len()).filter(|number| answers[*number].is_none()).collect();
    let mut steps: FuturesUnordered<BoxFuture<'_, Step>> = FuturesUnordered::new();
    if !all.is_empty() {
        steps.push(locate(core, target, actions, all, Duration::ZERO, deadline).boxed());
    }
    while let Some(step) = steps.next().await {
        let mut failed: Vec<(usize, Error)> = Vec::new();
        match step {
            Step::Located(located, unlocated) => {
                failed = unlocated;
                for chunk in chunks(core, actions, located) {
                    let again = chunk.iter().any(|(number, _)| tries[*number].again());
                    steps.push(send(core, target, actions, chunk, again, deadline).boxed());
                }
            }
            Step::Answered(answered) => {
                for (number, answer) in answered {
                    match answer {
                        Ok(row) => answers[number] = Some(Ok(row)),
                        Err(error) => failed.push((number, error)),
                    }
                }
            }
        }
        let (mut again, mut longest) = (Vec::new(), Duration::ZERO);
        for (number, error) in failed {
            match tries[number].next(error, &core.config) {
                Ok(pause) => {
                    longest = longest.max(pause);
                    again.push(number);
                }
                Err(error) => answers[number] = Some(Err(error)),
            }
        }
        if !again.is_empty() {
            steps.push(locate(core, target, actions, again, longest, deadline).boxed());
        }
    }
    answers.into_iter().map(|answer| answer.unwrap_or(Err(Error::Closed))).collect()
}

/// Finds the regions of actions, after a pause.
async fn locate(core: &Core, target: &Target, actions: &[Action], numbers: Vec<usize>, pause: Duration, deadline: Instant) -> Step {
    core.pause(pause).await;
    let (mut located, mut unlocated, mut unknown) = (Vec::with_capacity(numbers.len()), Vec::new(), Vec::new());
    for number in numbers {
        match target.regions.of(actions[number].row()) {
            Some(region) => located.push((number, region)),
            None => unknown.push(number),
        }
    }
    // A few at a time: what one lookup finds serves its neighbours.
    for some in unknown.chunks(16) {
        let lookups = some.iter().map(|number| {
            let row = actions[*number].row();
            async move { (*number, core.locator.locate(&target.name, &target.regions, row, Side::At, deadline).await) }
        });
        for (number, found) in join_all(lookups).await {
            match found {
                Ok(region) => located.push((number, region)),
                Err(error) => unlocated.push((number, error)),
            }
        }
    }
    Step::Located(located, unlocated)
}

type Chunk = Vec<(usize, Arc<Region>)>;

/// Parts them by server, and again by number and size; within a part those of a region stand together.
fn chunks(core: &Core, actions: &[Action], located: Chunk) -> Vec<Chunk> {
    let mut servers: HashMap<(Arc<str>, u16), Chunk> = HashMap::new();
    for (number, region) in located {
        servers.entry((Arc::clone(&region.server.host), region.server.port)).or_default().push((number, region));
    }
    let mut chunks = Vec::new();
    for (_, mut of_server) in servers {
        of_server.sort_by(|(a, left), (b, right)| left.name.cmp(&right.name).then(a.cmp(b)));
        let (mut chunk, mut bytes, mut gets): (Chunk, usize, usize) = (Vec::new(), 0, 0);
        for (number, region) in of_server {
            let size = actions[number].size();
            let full = chunk.len() >= MUTATIONS || gets >= GETS || (bytes + size > core.config.multi_bytes && !chunk.is_empty());
            if full {
                chunks.push(std::mem::take(&mut chunk));
                (bytes, gets) = (0, 0);
            }
            bytes += size;
            gets += usize::from(matches!(actions[number], Action::Get(_)));
            chunk.push((number, region));
        }
        if !chunk.is_empty() {
            chunks.push(chunk);
        }
    }
    chunks
}

/// One call.
async fn send(core: &Core, target: &Target, actions: &[Action], chunk: Chunk, again: bool, deadline: Instant) -> Step {
    let server = chunk[0].1.server.clone();
    let request = request(actions, &chunk);
    if again {
        core.pool.count_retry(&server);
    }
    let lane = if request.len() > 256 << 10 { Lane::Long } else { Lane::Short };
    let called = core.pool.call(&server, Service::Client, lane, &request, deadline).await;
    let answered = called.and_then(|response| read(&response, &chunk));
    let answered = match answered {
        Ok(answers) => chunk.iter().map(|(number, _)| *number).zip(answers).collect(),
        Err(error) => chunk.iter().map(|(number, _)| (*number, Err(error.clone()))).collect::<Vec<_>>(),
    };
    learn(core, target, &chunk, &answered, &server);
    Step::Answered(answered)
}

/// Tells the region cache what the regions of a call met, each region once.
fn learn(core: &Core, target: &Target, chunk: &Chunk, answered: &[(usize, Answer)], server: &ServerName) {
    let mut last: Option<&Arc<Region>> = None;
    for ((_, region), (_, answer)) in chunk.iter().zip(answered) {
        if let Err(error) = answer
            && last.is_none_or(|known| !Arc::ptr_eq(known, region))
        {
            debug_assert!(region.server.same_address(server));
            core.locator.learn(&target.regions, region, error);
            last = Some(region);
        }
    }
}

fn request(actions: &[Action], chunk: &Chunk) -> Request {
    let (mut message, mut cells) = (MultiRequest::default(), Vec::new());
    let mut last: Option<&Bytes> = None;
    for (index, (number, region)) in chunk.iter().enumerate() {
        if last != Some(&region.name) {
            message.region_action.push(RegionAction { region: region.specifier(), ..RegionAction::default() });
            last = Some(&region.name);
        }
        let mut action = ActionMessage { index: Some(index as u32), ..ActionMessage::default() };
        match &actions[*number] {
            Action::Get(get) => action.get = Some(get.to_message()),
            Action::Mutate(mutation) => {
                action.mutation = Some(mutation.to_message());
                cells.push(mutation.to_block());
            }
        }
        if let Some(region_action) = message.region_action.last_mut() {
            region_action.action.push(action);
        }
    }
    Request::with_cells("Multi", &message, cells)
}

/// The answers in the chunk's order.
fn read(response: &Response, chunk: &Chunk) -> Result<Vec<Answer>, Error> {
    let message: MultiResponse = response.read()?;
    let mut cells = Cells::new(response.cells.clone());
    let mut answers: Vec<Option<Answer>> = vec![None; chunk.len()];
    let mut results = message.region_action_result.iter();
    let mut start = 0;
    while start < chunk.len() {
        let name = &chunk[start].1.name;
        let end = chunk[start..].iter().position(|(_, region)| region.name != *name).map_or(chunk.len(), |len| start + len);
        let result = results.next().ok_or_else(|| Error::Protocol("an answer to many names fewer regions than were asked".to_owned()))?;
        read_region(result, &mut answers, start..end, &mut cells)?;
        start = end;
    }
    let missing = || Err(Error::Protocol("an answer to many leaves an action out".to_owned()));
    Ok(answers.into_iter().map(|answer| answer.unwrap_or_else(missing)).collect())
}

fn read_region(
    result: &RegionActionResult,
    answers: &mut [Option<Answer>],
    range: std::ops::Range<usize>,
    cells: &mut Cells,
) -> Result<(), Error> {
    if let Some(pair) = &result.exception {
        let error = Error::from(Exception::from_pair(pair));
        answers[range].fill(Some(Err(error)));
        return Ok(());
    }
    for one in &result.result_or_exception {
        let index = one.index.unwrap_or(0) as usize;
        if !range.contains(&index) {
            return Err(Error::Protocol(format!("an answer to many names action {index} in another region")));
        }
        let answer = match (&one.exception, &one.result) {
            (Some(pair), _) => Err(Exception::from_pair(pair).into()),
            (None, Some(result)) => Ok(Row::new(read_result(result, cells)?)?),
            (None, None) => Ok(None),
        };
        answers[index] = Some(answer);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Action, read, request};
    use crate::error::Error;
    use crate::get::Get;
    use crate::messages::client::{MultiRequest, MultiResponse, RegionActionResult, Result as ResultMessage, ResultOrException};
    use crate::messages::rpc::NameBytesPair;
    use crate::mutation::Mutation;
    use crate::names::ServerName;
    use crate::regions::Region;
    use crate::wire::cell::write_cell;
    use crate::wire::frame::Response;
    use prost::Message;
    use std::sync::Arc;

    fn region(start: &'static str, end: &'static str) -> Arc<Region> {
        Arc::new(Region {
            name: format!("t,{start},1.").into(),
            table: "t".parse().unwrap(),
            id: 1,
            start: start.into(),
            end: end.into(),
            server: ServerName::at("h", 1),
            sequence: 0,
            hinted: false,
        })
    }

    #[test]
    fn every_action_gets_its_own_answer() {
        let (first, second) = (region("", "m"), region("m", ""));
        let actions = [
            Action::Get(Get::new("a")),
            Action::Mutate(Mutation::put("b").set("f", "q", "v")),
            Action::Get(Get::new("n")),
            Action::Get(Get::new("o")),
        ];
        let chunk = vec![(0, Arc::clone(&first)), (1, first), (2, Arc::clone(&second)), (3, second)];
        let sent = MultiRequest::decode_length_delimited(request(&actions, &chunk).message).unwrap();
        assert_eq!(sent.region_action.iter().map(|region| region.action.len()).collect::<Vec<_>>(), [2, 2]);
        let mut cells = Vec::new();
        write_cell(&mut cells, b"a", b"f", b"q", 1, 4, b"one").unwrap();
        let found = ResultMessage { associated_cell_count: Some(1), ..ResultMessage::default() };
        let one = |index, result| ResultOrException { index: Some(index), result: Some(result), exception: None };
        let moved = NameBytesPair { name: "org.apache.hadoop.hbase.NotServingRegionException".to_owned(), value: None };
        let mut message = MultiResponse {
            region_action_result: vec![
                // In another order than they were asked.
                RegionActionResult {
                    result_or_exception: vec![one(1, ResultMessage::default()), one(0, found)],
                    ..RegionActionResult::default()
                },
                RegionActionResult { exception: Some(moved), ..RegionActionResult::default() },
            ],
            ..MultiResponse::default()
        };
        let response = |message: &MultiResponse| Response { message: message.encode_to_vec().into(), cells: cells.clone().into() };
        let answers = read(&response(&message), &chunk).unwrap();
        assert_eq!(answers[0].as_ref().unwrap().as_ref().unwrap().value(b"f", b"q"), Some(&b"one"[..]));
        assert!(answers[1].as_ref().unwrap().is_none());
        assert!(answers[2..].iter().all(|answer| answer.as_ref().unwrap_err().is_exception("NotServingRegionException")));
        // What is left out is an error of its own, what lies elsewhere one of the whole.
        message.region_action_result[0].result_or_exception.pop();
        assert!(matches!(read(&response(&message), &chunk).unwrap()[0], Err(Error::Protocol(_))));
        message.region_action_result[0].result_or_exception[0].index = Some(3);
        assert!(read(&response(&message), &chunk).is_err());
        message.region_action_result.pop();
        assert!(read(&response(&message), &chunk).is_err());
    }
}
