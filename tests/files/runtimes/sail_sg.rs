//! Node lists for sail-sg's runtime, carried out by a model of that runtime.
//!
//! The model is written from the runtime's sources, not from ours: queues by chunk, and messages without names, posted
//! in both of its ways. It reads the JSON and knows nothing of what wrote it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use bubbleproof::catalog;
use bubbleproof::comm::{self, Semantics};
use bubbleproof::interchange::sail_sg::{self, node_lists};
use bubbleproof::model::{Model, Placement, PlacementError};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(rename = "options")]
    _options: Vec<String>,
    n_stages: usize,
    max_chunks: usize,
    n_micro: u32,
    nodes: Vec<Vec<Node>>,
}

/// The fields of the runtime's `ScheduledNode`, all of them and no others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    r#type: String,
    stage: usize,
    microbatch: u32,
    chunk: usize,
    seq_split_idx: u32,
    layer_group_idx: usize,
    start_time: i64,
    completion_time: i64,
    recv_peer_stage: Option<usize>,
    send_peer_stage: Option<usize>,
    comm_direction: Option<String>,
    comm_peer_stage: Option<usize>,
    comm_pair_id: Option<u32>,
    rollback: bool,
}

impl Node {
    fn is_computation(&self) -> bool {
        matches!(self.r#type.as_str(), "F" | "B" | "W" | "BW")
    }

    fn forward(&self) -> bool {
        matches!(self.r#type.as_str(), "F" | "SEND_FORWARD" | "RECV_FORWARD")
    }
}

/// What a tensor is: the output of a forward or the gradient of an input, of a stage and a microbatch.
type Tensor = (bool, usize, u32);

/// How messages are posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Posting {
    /// One by one, of those that stand together sends first, over a communicator for each pair of devices; for
    /// two devices, one for each direction. That is what it does unless it is told otherwise.
    Apart,
    /// Those that stand together as one group over a communicator for all devices; a group goes when the one
    /// before it has gone.
    Batched,
}

/// An end of a message in a group: whether it is sent, the other device, and what is sent.
struct End {
    to: Option<Tensor>,
    peer: usize,
    done: bool,
}

#[derive(Default)]
struct Rank {
    at: usize,
    batch: Vec<Node>,
    /// Groups of ends, in the order in which they were launched.
    groups: Vec<Vec<End>>,
    /// How many of those have gone through the communicator for all devices.
    gone: usize,
    /// By communicator for a pair of devices: the ends to go, in the order in which they were posted.
    streams: BTreeMap<(usize, bool), VecDeque<(usize, usize)>>,
    /// By direction of the pass and chunk: tensors to be sent.
    outgoing: BTreeMap<(bool, usize), VecDeque<Tensor>>,
    /// By direction of the pass and chunk: the group and end that will bring a tensor.
    incoming: BTreeMap<(bool, usize), VecDeque<(usize, usize)>>,
    /// By group and end, what arrived.
    arrived: BTreeMap<(usize, usize), Tensor>,
    /// By direction of the pass: tensors for the other chunk of this device.
    local: BTreeMap<bool, VecDeque<Tensor>>,
    /// By chunk: the microbatches of forwards that wait for their backward.
    kept: BTreeMap<usize, VecDeque<u32>>,
    /// By chunk: the microbatches of weight gradients that are to be computed.
    weights: BTreeMap<usize, VecDeque<u32>>,
    cleared: BTreeMap<usize, bool>,
}

/// Carries the lists out to their end, or says what goes wrong.
fn carry_out(lists: &Lists, posting: Posting) -> Result<(), String> {
    let mut ranks: Vec<Rank> = (0..lists.n_stages).map(|_| Rank::default()).collect();
    loop {
        let mut moved = false;
        for (device, rank) in ranks.iter_mut().enumerate() {
            while step(lists, rank, device)? {
                moved = true;
            }
        }
        moved |= match posting {
            Posting::Apart => exchange_apart(&mut ranks)?,
            Posting::Batched => exchange_groups(&mut ranks)?,
        };
        if !moved {
            break;
        }
    }
    for (device, rank) in ranks.iter().enumerate() {
        let left = lists.nodes[device].get(rank.at);
        if let Some(node) = left {
            return Err(format!("hangs: device {device} at {} {}", node.r#type, node.microbatch));
        }
        if rank.groups.iter().flatten().any(|end| !end.done)
            || rank.outgoing.values().any(|queue| !queue.is_empty())
        {
            return Err(format!("device {device} has messages left"));
        }
        if rank.weights.values().any(|queue| !queue.is_empty()) {
            return Err(format!("device {device} has weight gradients left"));
        }
    }
    Ok(())
}

/// One node of a device; false when it has to wait.
fn step(lists: &Lists, rank: &mut Rank, device: usize) -> Result<bool, String> {
    let list = &lists.nodes[device];
    let Some(node) = list.get(rank.at) else { return Ok(false) };
    let wrong = |what: &str| Err(format!("device {device}, {} {}: {what}", node.r#type, node.microbatch));
    if node.stage != device || node.rollback || node.seq_split_idx != 0 {
        return wrong("is not a node of this device");
    }
    if !node.is_computation() {
        rank.batch.push(node.clone());
        let next = list.get(rank.at + 1);
        let next_computation = list[rank.at + 1..].iter().find(|node| node.is_computation());
        let consumed = next_computation.is_some_and(|next| {
            let kind =
                if node.r#type == "RECV_FORWARD" { next.r#type == "F" } else { next.r#type.starts_with('B') };
            node.r#type.starts_with("RECV")
                && kind
                && next.chunk == node.chunk
                && next.microbatch == node.microbatch
        });
        if consumed || next.is_none_or(Node::is_computation) {
            launch(rank, lists.n_stages)?;
        }
        rank.at += 1;
        return Ok(true);
    }
    let last_group = lists.n_stages * lists.max_chunks - 1;
    let group = node.layer_group_idx;
    match node.r#type.as_str() {
        "W" => {
            let others_pending = list[rank.at + 1..].iter().any(|node| node.r#type != "W");
            let several = lists.max_chunks > 1;
            let alone = others_pending && (!several || node.microbatch != lists.n_micro - 1);
            let queue = rank.weights.entry(node.chunk).or_default();
            if alone {
                if queue.pop_front() != Some(node.microbatch) {
                    return wrong("another weight gradient is first in the queue");
                }
            } else if !*rank.cleared.entry(node.chunk).or_default() {
                queue.clear();
                rank.cleared.insert(node.chunk, true);
            }
        }
        kind => {
            let forward = kind == "F";
            let ends = if forward { group == 0 } else { group == last_group };
            let needs: Tensor =
                (forward, if forward { group.wrapping_sub(1) } else { group + 1 }, node.microbatch);
            if ends {
                // The data, or the loss.
            } else if node.recv_peer_stage.is_none_or(|peer| peer == device) {
                if device + 1 != lists.n_stages || node.chunk % 2 != usize::from(forward) {
                    return wrong("a chunk is handed over where the runtime does not do so");
                }
                match rank.local.entry(forward).or_default().pop_front() {
                    Some(tensor) if tensor == needs => {}
                    _ => return wrong("the other chunk handed over something else"),
                }
            } else {
                let queue = rank.incoming.entry((forward, node.chunk)).or_default();
                let Some(&place) = queue.front() else { return wrong("nothing was received for it") };
                let Some(&tensor) = rank.arrived.get(&place) else { return Ok(false) };
                queue.pop_front();
                if tensor != needs {
                    return wrong("a wrong tensor is received");
                }
            }
            if forward {
                rank.kept.entry(node.chunk).or_default().push_back(node.microbatch);
            } else {
                if rank.kept.entry(node.chunk).or_default().pop_front() != Some(node.microbatch) {
                    return wrong("another forward is first in the queue");
                }
                if kind == "B" {
                    rank.weights.entry(node.chunk).or_default().push_back(node.microbatch);
                }
            }
            let made: Tensor = (forward, group, node.microbatch);
            let hands_over = if forward { group != last_group } else { group != 0 };
            if hands_over && node.send_peer_stage.is_none_or(|peer| peer == device) {
                rank.local.entry(forward).or_default().push_back(made);
            } else if hands_over {
                rank.outgoing.entry((forward, node.chunk)).or_default().push_back(made);
            }
        }
    }
    rank.at += 1;
    Ok(true)
}

/// Launches what stands together as one group: sends before, receives from before, sends after, receives
/// from after.
fn launch(rank: &mut Rank, devices: usize) -> Result<(), String> {
    let number = rank.groups.len();
    let mut group = Vec::new();
    for (sends, direction) in [(true, "PREV"), (false, "PREV"), (true, "NEXT"), (false, "NEXT")] {
        for node in &rank.batch {
            let matches = node.comm_direction.as_deref() == Some(direction);
            if !matches || node.r#type.starts_with("SEND") != sends {
                continue;
            }
            let peer = node.comm_peer_stage.ok_or("a message without another device")?;
            let key = (node.forward(), node.chunk);
            let to = if sends {
                let queue = rank.outgoing.entry(key).or_default();
                let tensor = queue.pop_front().ok_or("nothing to send")?;
                if tensor.2 != node.microbatch {
                    return Err(format!("{tensor:?} is sent as {}", node.microbatch));
                }
                Some(tensor)
            } else {
                rank.incoming.entry(key).or_default().push_back((number, group.len()));
                None
            };
            group.push(End { to, peer, done: false });
        }
    }
    let posted: Vec<usize> = (0..group.len()).collect();
    let (sends, receives): (Vec<_>, Vec<_>) = posted.into_iter().partition(|&end| group[end].to.is_some());
    for end in sends.into_iter().chain(receives) {
        let direction = devices == 2 && group[end].to.is_some();
        rank.streams.entry((group[end].peer, direction)).or_default().push_back((number, end));
    }
    rank.batch.clear();
    rank.groups.push(group);
    Ok(())
}

/// Lets messages go whose both ends are first in the communicator of their two devices.
fn exchange_apart(ranks: &mut [Rank]) -> Result<bool, String> {
    let (mut moved, several) = (false, ranks.len() > 2);
    for from in 0..ranks.len() {
        for to in 0..ranks.len() {
            loop {
                let first = |device: usize, peer: usize, sends: bool| {
                    let rank = &ranks[device];
                    let &(group, end) = rank.streams.get(&(peer, !several && sends))?.front()?;
                    (rank.groups[group][end].to.is_some() == sends).then_some((group, end))
                };
                let (Some(send), Some(receive)) = (first(from, to, true), first(to, from, false)) else {
                    break;
                };
                let sent = &mut ranks[from].groups[send.0][send.1];
                sent.done = true;
                let tensor = sent.to.ok_or("a send of nothing")?;
                ranks[to].groups[receive.0][receive.1].done = true;
                ranks[to].arrived.insert(receive, tensor);
                for (device, peer, sends) in [(from, to, true), (to, from, false)] {
                    let stream = ranks[device].streams.get_mut(&(peer, !several && sends));
                    stream.ok_or("no communicator")?.pop_front();
                }
                moved = true;
            }
        }
    }
    Ok(moved)
}

/// Lets messages go whose both ends are in the groups that are at their devices' heads.
fn exchange_groups(ranks: &mut [Rank]) -> Result<bool, String> {
    let mut moved = false;
    for from in 0..ranks.len() {
        for to in 0..ranks.len() {
            loop {
                let head = |device: usize, peer: usize, sends: bool| {
                    let rank = &ranks[device];
                    let group = rank.groups.get(rank.gone)?;
                    group.iter().position(|end| !end.done && end.peer == peer && end.to.is_some() == sends)
                };
                let (Some(send), Some(receive)) = (head(from, to, true), head(to, from, false)) else {
                    break;
                };
                let group = ranks[from].gone;
                ranks[from].groups[group][send].done = true;
                let tensor = ranks[from].groups[group][send].to.ok_or("a send of nothing")?;
                let group = ranks[to].gone;
                ranks[to].groups[group][receive].done = true;
                ranks[to].arrived.insert((group, receive), tensor);
                moved = true;
            }
        }
    }
    for rank in ranks {
        while rank.groups.get(rank.gone).is_some_and(|group| group.iter().all(|end| end.done)) {
            rank.gone += 1;
            moved = true;
        }
    }
    Ok(moved)
}

fn models() -> Vec<Model> {
    let placements: [fn(u32) -> Result<Placement, PlacementError>; 4] =
        [Placement::linear, Placement::v, |d| Placement::looped(d, 2), |d| Placement::looped(d, 3)];
    let mut models = Vec::new();
    for placement in placements {
        for devices in [2, 3, 4, 7] {
            for microbatches in [1, devices, 2 * devices + 1, 4 * devices] {
                for times in [
                    [1, 1, 1, 0],
                    [7, 9, 5, 2],
                    [3, 4, 0, 0],
                    [10, 11, 9, 25],
                    [2, 2, 2, 2],
                    [0, 1, 3, 0],
                    [1, 0, 2, 0],
                ] {
                    let placement = placement(devices).expect("a placement");
                    models.push(Model::equal_stages(placement, microbatches, times).expect("a model"));
                }
            }
        }
    }
    models
}

fn read(model: &Model, name: &str) -> Option<Result<(sail_sg::NodeLists, Lists), String>> {
    let schedule = catalog::find(name)?.generate(model).ok()?;
    Some(node_lists(model, &schedule).map_err(|error| error.to_string()).map(|lists| {
        let mut json = Vec::new();
        sail_sg::print(&lists, &schedule, &mut json).expect("writing to memory");
        let read = serde_json::from_slice(&json).expect("our own JSON");
        (lists, read)
    }))
}

#[test]
fn every_named_schedule_runs_to_its_end_with_the_right_tensors_or_is_refused_with_the_reason() {
    let (mut ran, mut refused) = (BTreeMap::new(), BTreeMap::new());
    for model in models() {
        for entry in catalog::entries() {
            let about = || {
                format!(
                    "{} on {} devices, {} microbatches, {:?}",
                    entry.name,
                    model.devices(),
                    model.microbatches(),
                    model.costs()
                )
            };
            match read(&model, entry.name) {
                None => {}
                Some(Err(reason)) => {
                    let reason = reason.rsplit("` ").next().unwrap_or_default().to_owned();
                    *refused.entry((entry.name, reason)).or_insert(0) += 1;
                }
                Some(Ok((lists, json))) => {
                    assert_eq!(comm::verify(&lists.plan), [], "{}", about());
                    for semantics in Semantics::ALL {
                        assert_eq!(comm::deadlock(&lists.plan, semantics), None, "{}", about());
                    }
                    for posting in [Posting::Apart, Posting::Batched] {
                        if let Err(wrong) = carry_out(&json, posting) {
                            panic!("{}, {posting:?}: {wrong}", about());
                        }
                    }
                    *ran.entry(entry.name).or_insert(0) += 1;
                }
            }
        }
    }
    let mut report = String::new();
    for (name, count) in ran {
        writeln!(report, "{name}: {count} run").expect("writing to a string");
    }
    for ((name, reason), count) in refused {
        writeln!(report, "{name}: {count} refused, {reason}").expect("writing to a string");
    }
    insta::assert_snapshot!(report);
}

#[test]
fn messages_stand_in_the_order_of_their_times_and_receives_before_what_runs_meanwhile() {
    let model =
        Model::equal_stages(Placement::v(4).expect("a placement"), 12, [7, 9, 5, 2]).expect("a model");
    let (_, lists) = read(&model, "v-half").expect("it has V placement").expect("it runs");
    for list in &lists.nodes {
        let times: Vec<i64> =
            list.iter().filter(|node| !node.is_computation()).map(|node| node.start_time).collect();
        assert!(times.is_sorted(), "{times:?}");
        let numbers: Vec<u32> = list.iter().filter_map(|node| node.comm_pair_id).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        // Whatever runs when a message is made comes after its receive.
        for (position, node) in list.iter().enumerate().filter(|(_, node)| node.r#type.starts_with("RECV")) {
            let mut begun = list[..position].iter().filter(|before| before.is_computation());
            let over = begun.next_back().is_none_or(|before| before.completion_time <= node.start_time);
            assert!(over, "{node:?} on device {}", node.stage);
        }
    }
}

/// What the model of the runtime says when two nodes of a device change places.
fn swapped(lists: &Lists, device: usize, places: (usize, usize)) -> Result<(), String> {
    let mut nodes = lists.nodes.clone();
    nodes[device].swap(places.0, places.1);
    let lists = Lists {
        _format: String::new(),
        _name: None,
        _options: Vec::new(),
        nodes,
        n_stages: lists.n_stages,
        max_chunks: lists.max_chunks,
        n_micro: lists.n_micro,
    };
    carry_out(&lists, Posting::Apart).and_then(|()| carry_out(&lists, Posting::Batched))
}

#[test]
fn what_is_out_of_place_is_noticed_unless_it_is_but_a_name() {
    let model = Model::unit(Placement::v(3).expect("a placement"), 6).expect("a model");
    let (_, lists) = read(&model, "v-half").expect("it has V placement").expect("it runs");
    let find = |device: usize, kind: &str, microbatch: u32| {
        let list: &[Node] = &lists.nodes[device];
        list.iter()
            .position(|node| node.r#type == kind && node.microbatch == microbatch)
            .expect("it is there")
    };
    let mut said = String::new();
    for (device, first, second) in [
        (1, ("RECV_FORWARD", 0), ("RECV_FORWARD", 1)),
        (1, ("SEND_FORWARD", 0), ("SEND_FORWARD", 1)),
        (1, ("RECV_FORWARD", 0), ("F", 0)),
        (0, ("F", 0), ("SEND_FORWARD", 0)),
        (2, ("F", 0), ("F", 1)),
        (0, ("B", 0), ("B", 1)),
        (0, ("W", 0), ("W", 1)),
        (1, ("SEND_FORWARD", 0), ("RECV_FORWARD", 5)),
    ] {
        let places = (find(device, first.0, first.1), find(device, second.0, second.1));
        let outcome = swapped(&lists, device, places).err().unwrap_or_else(|| "nothing changes".to_owned());
        writeln!(said, "{} {} and {} {} of device {device}: {outcome}", first.0, first.1, second.0, second.1)
            .expect("writing to a string");
    }
    insta::assert_snapshot!(said);
}
