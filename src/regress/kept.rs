//! Verdicts that a record keeps where this build cannot decide.

use super::fact::{Place, RecordedVerdict, Value, What};
use super::record::Record;

/// What was found, with the verdicts of the record about what this build cannot decide, as far as those are
/// about the same formulas and are to be kept.
pub(super) fn with_kept_verdicts(
    found: &Record,
    old: Option<&Record>,
    is_kept: impl Fn(RecordedVerdict) -> bool,
) -> Record {
    let whole = Place::default();
    let Some(old) = old.filter(|old| old.get(&whole, &What::Formulas) == found.get(&whole, &What::Formulas))
    else {
        return found.clone();
    };
    let (mut facts, mut pending) = (Vec::new(), Vec::new());
    for fact in &found.facts {
        // A claim comes right after its verdict, and a counterexample after the claim.
        if !matches!(fact.key.what, What::Claim(_)) {
            facts.append(&mut pending);
        }
        let mut fact = fact.clone();
        if let Value::Verdict(RecordedVerdict::Undecided, _) = fact.value
            && let Some(kept @ Value::Verdict(verdict, _)) = old.get(&fact.key.place, &fact.key.what)
            && is_kept(*verdict)
        {
            fact.value = kept.clone();
            if let What::Theorem(name) | What::Promise(name) = &fact.key.what {
                let beneath = [What::Counterexample(name.clone()), What::Drawing(name.clone())];
                pending = old.facts.iter().filter(|fact| beneath.contains(&fact.key.what)).cloned().collect();
            }
        }
        facts.push(fact);
    }
    facts.append(&mut pending);
    Record { design: found.design.clone(), facts }
}
