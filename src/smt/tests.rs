//! Conversations with solvers: those that are there, and programs that only pretend to be one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::stop::{Interrupt, Stop};

/// Far more than any question here takes.
const AMPLE: Duration = Duration::from_secs(60);

const LINEAR: Question<'_> = Question { logic: "QF_LIA", arithmetic: Arithmetic::Sums };

fn stop() -> Stop {
    Stop::after(AMPLE)
}

/// A program of `tests/solvers`.
fn pretender(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/solvers").join(name)
}

/// What a pretender says to a question. Where that is nothing, no process of it is left.
fn asked(name: &str, stop: &Stop) -> Result<Answer, SmtError> {
    let mut solver = Solver::new(Program::at(pretender(name)));
    solver.begin(LINEAR, stop)?;
    let id = solver.process_id();
    solver.tell("(assert true)");
    let answer = solver.check(stop);
    if answer.is_err() || answer == Ok(Answer::Unknown(Unknown::Stopped)) {
        assert_eq!(solver.process_id(), None, "it is not reused");
        let there = id.is_some_and(|id| Path::new(&format!("/proc/{id}")).exists());
        assert!(!there, "{name} is a zombie, or still there");
    }
    answer
}

fn message(name: &str) -> String {
    let answer = asked(name, &stop());
    let message = answer.expect_err("it is no solver").to_string();
    message.replace(pretender(name).to_str().expect("a plain path"), "SOLVER")
}

/// The solvers that are there: the one that is found, and the one that a variable names for this test.
fn solvers() -> Vec<Solver> {
    let mut solvers = vec![Solver::find().unwrap_or_else(|error| panic!("{error}"))];
    if let Some(path) = std::env::var_os("BUBBLEPROOF_TEST_CVC5").filter(|path| !path.is_empty()) {
        let program = Program::named(&path).expect("the variable names cvc5");
        assert_eq!(program.language(), Language::Cvc5);
        solvers.push(Solver::new(program));
    }
    solvers
}

#[test]
fn questions_are_answered_one_after_another_by_one_process() {
    for mut solver in solvers() {
        let mut ids = Vec::new();
        for (fact, expected) in
            [("(< x 0)", Answer::Unsat), ("(> x 6)", Answer::Sat), ("(< x 6)", Answer::Unsat)]
        {
            solver.begin(LINEAR, &stop()).expect("it begins");
            solver.tell("(declare-const x Int) (declare-const b Bool)");
            solver.tell("(assert (= b (> x 5)))\n(assert (and b (< x 8)))");
            solver.tell(&format!("(assert {fact})"));
            assert_eq!(solver.check(&stop()), Ok(expected.clone()), "{fact}");
            if expected == Answer::Sat {
                assert_eq!(solver.truths(&["b".to_owned()], &stop()), Ok(Some(vec![true])));
                assert_eq!(solver.integer("x", &stop()), Ok(Some(7)));
            }
            ids.push(solver.process_id());
        }
        assert!(ids.iter().all(|id| id.is_some() && *id == ids[0]), "{ids:?}");
    }
}

#[test]
fn assertions_can_be_taken_back() {
    for mut solver in solvers() {
        solver.begin(Question { arithmetic: Arithmetic::Quotients, ..LINEAR }, &stop()).expect("it begins");
        solver.tell("(declare-const x Int) (assert (= (mod x 7) 3)) (assert (< x 0))");
        for least in [-20_i128, -3, -10] {
            solver.tell(&format!("(push 1) (assert (>= x (- {})))", -least));
            let answer = solver.check(&stop());
            assert_eq!(answer, Ok(if least <= -4 { Answer::Sat } else { Answer::Unsat }), "{least}");
            if answer == Ok(Answer::Sat) {
                let value = solver.integer("x", &stop()).expect("a value").expect("in time");
                assert!(value >= least && value.rem_euclid(7) == 3, "{value}");
            }
            solver.tell("(pop 1)");
        }
    }
}

#[test]
fn a_solver_says_who_it_is() {
    for mut solver in solvers() {
        let known =
            ["Z3 ", "cvc5 "].iter().any(|name| solver.version().is_ok_and(|own| own.starts_with(name)));
        assert!(known, "{:?}", solver.version());
    }
}

#[test]
fn a_question_of_many_megabytes_fills_no_pipe() {
    for mut solver in solvers() {
        solver.begin(LINEAR, &stop()).expect("it begins");
        solver.tell("(declare-const x Int)");
        solver.tell(&"(assert (> x 5))\n".repeat(200_000));
        solver.tell("(assert (< x 3))");
        assert_eq!(solver.check(&stop()), Ok(Answer::Unsat));
    }
}

#[test]
fn what_a_solver_does_not_understand_is_an_error_and_no_answer() {
    for mut solver in solvers() {
        for nonsense in ["(assert x)", "(assert (> 1 \"a\"))", "(frobnicate)"] {
            solver.begin(LINEAR, &stop()).expect("it begins");
            solver.tell(nonsense);
            let error = solver.check(&stop()).expect_err(nonsense);
            let told = matches!(error, SmtError::Refused { .. } | SmtError::Unexpected { .. });
            assert!(told, "{nonsense}: {error}");
            assert_eq!(solver.process_id(), None, "it is not reused");
        }
        solver.begin(LINEAR, &stop()).expect("another one begins");
        assert_eq!(solver.check(&stop()), Ok(Answer::Sat));
    }
}

#[test]
fn a_solver_that_hangs_is_ended_at_the_deadline() {
    for name in ["hangs", "deaf", "babbles"] {
        let begun = Instant::now();
        let answer = asked(name, &Stop::after(Duration::from_millis(300)));
        let late = begun.elapsed();
        assert!(late < Duration::from_secs(20), "{name}: {late:?}");
        assert_eq!(answer, Ok(Answer::Unknown(Unknown::Stopped)), "{name}");
    }
}

#[test]
fn an_interrupt_ends_a_solver_in_the_middle_of_a_question() {
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    let raiser = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        raised.raise();
    });
    let answer = asked("hangs", &Stop::on(interrupt));
    raiser.join().expect("it only sleeps");
    assert_eq!(answer, Ok(Answer::Unknown(Unknown::Stopped)));
}

#[test]
fn a_real_solver_that_is_interrupted_is_replaced_by_another() {
    for mut solver in solvers() {
        solver.begin(LINEAR, &stop()).expect("it begins");
        assert_eq!(solver.check(&Stop::after(Duration::ZERO)), Ok(Answer::Unknown(Unknown::Stopped)));
        solver.begin(LINEAR, &stop()).expect("it begins");
        solver.tell("(assert false)");
        assert_eq!(solver.check(&stop()), Ok(Answer::Unsat));
    }
}

#[test]
fn a_solver_that_fails_is_asked_once_more_and_no_more() {
    let mut solver = Solver::new(Program::at(pretender("dies")));
    let mut asked = 0;
    let answer = solver.asked_twice(|solver| {
        asked += 1;
        solver.begin(LINEAR, &stop())?;
        solver.check(&stop())
    });
    assert!(matches!(answer, Err(SmtError::Died { .. })), "{answer:?}");
    assert_eq!(asked, 2);
    let mut solver = Solver::find().expect("a solver");
    let mut asked = 0;
    let answer = solver.asked_twice(|solver| {
        asked += 1;
        solver.begin(LINEAR, &stop())?;
        solver.tell(if asked == 1 { "(assert x)" } else { "(assert false)" });
        solver.check(&stop())
    });
    assert_eq!((answer, asked), (Ok(Answer::Unsat), 2));
}

#[test]
fn a_question_begun_when_it_was_time_to_stop_can_still_be_asked() {
    for mut solver in solvers() {
        solver.begin(LINEAR, &Stop::after(Duration::ZERO)).expect("no process is no error");
        solver.tell("(assert false)");
        assert_eq!(solver.check(&stop()), Ok(Answer::Unsat));
        // What a process was told is lost with it: without that there is no question.
        solver.begin(LINEAR, &stop()).expect("it begins");
        solver.tell("(assert false)");
        assert_eq!(solver.check(&Stop::after(Duration::ZERO)), Ok(Answer::Unknown(Unknown::Stopped)));
        let error = solver.check(&stop()).expect_err("the question is lost");
        assert!(matches!(error, SmtError::Ended { .. }), "{error}");
    }
}

#[test]
fn an_answer_in_quotes_is_none() {
    let error = asked("quotes", &stop()).expect_err("a text is no answer");
    assert!(matches!(error, SmtError::Unexpected { .. }), "{error}");
}

#[test]
fn what_a_solver_has_started_ends_with_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (script, noted) = (folder.path().join("starts"), folder.path().join("child"));
    let text = format!(
        "#!/bin/sh\ncheck() {{ sleep 1000 & echo $! > {}; echo unsat; }}\n. {}\n",
        noted.display(),
        pretender("polite").display()
    );
    std::fs::copy(pretender("dies"), &script).expect("a copy that may be run");
    std::fs::write(&script, text).expect("written");
    let mut solver = Solver::new(Program::at(script));
    solver.begin(LINEAR, &stop()).expect("it begins");
    assert_eq!(solver.check(&stop()), Ok(Answer::Unsat));
    drop(solver);
    let child = std::fs::read_to_string(&noted).expect("an id");
    let stat = Path::new("/proc").join(child.trim()).join("stat");
    // It is gone, or a zombie that nobody but the first process of the system waits for.
    let is_there = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    for _ in 0..200 {
        if !is_there() {
            return;
        }
        thread::sleep(process::GLANCE);
    }
    panic!("process {child} goes on");
}

#[test]
fn a_flood_is_waded_through() {
    let answer = asked("floods", &stop());
    assert_eq!(answer, Ok(Answer::Unsat));
}

#[test]
fn a_solver_that_gives_up_says_why() {
    let answer = asked("gives-up", &stop());
    assert_eq!(answer, Ok(Answer::Unknown(Unknown::GaveUp("incomplete".to_owned()))));
}

#[test]
fn a_second_answer_spoils_the_next_question() {
    let mut solver = Solver::new(Program::at(pretender("talks")));
    solver.begin(LINEAR, &stop()).expect("it begins");
    assert_eq!(solver.check(&stop()), Ok(Answer::Sat));
    let error = solver.check(&stop()).expect_err("`unsat` answers nothing");
    assert!(matches!(error, SmtError::Unexpected { .. }), "{error}");
}

#[test]
fn every_failure_says_what_happened() {
    let failures = ["dies", "refuses", "warns", "mumbles", "parrot"];
    insta::assert_snapshot!(failures.map(|name| format!("{name}: {}", message(name))).join("\n"));
    let missing = Solver::new(Program::at(pretender("nobody"))).begin(LINEAR, &stop());
    assert!(matches!(missing, Err(SmtError::Start { .. })), "{missing:?}");
}

#[test]
fn the_solver_is_the_one_that_is_named_or_else_found_on_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Some(folder.path().as_os_str());
    assert_eq!(Program::among(None, None), Err(SmtError::NoSolver));
    assert_eq!(Program::among(None, path), Err(SmtError::NoSolver));
    let there = |name: &str| std::fs::copy(pretender("hangs"), folder.path().join(name)).expect("a copy");
    there("cvc5");
    let found = Program::among(None, path).expect("cvc5 is there");
    assert_eq!((found.path(), found.language()), (&*folder.path().join("cvc5"), Language::Cvc5));
    there("z3");
    std::fs::write(folder.path().join("text"), "no program").expect("a file");
    let found = Program::among(Some(OsStr::new("")), path).expect("z3 comes first");
    assert_eq!((found.path(), found.language()), (&*folder.path().join("z3"), Language::Z3));
    let named = Program::among(Some(OsStr::new("cvc5")), path).expect("it is on the path");
    assert_eq!(named.language(), Language::Cvc5);
    let at = Program::among(Some(pretender("hangs").as_os_str()), path).expect("it is a path");
    assert_eq!(at.path(), pretender("hangs"));
    // A wrong name is not made good by another solver.
    for wrong in ["z4", "text", "/no/such/z3", "./z3"] {
        let missing = Program::among(Some(OsStr::new(wrong)), path);
        assert_eq!(missing, Err(SmtError::Missing { name: wrong.to_owned() }), "{wrong}");
    }
    let errors = [SmtError::NoSolver, SmtError::Missing { name: "z4".to_owned() }];
    insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"));
}

#[test]
fn questions_of_differences_and_of_sums_take_turns_in_one_process() {
    let differences = Question { arithmetic: Arithmetic::Differences, ..LINEAR };
    for mut solver in solvers() {
        for _ in 0..2 {
            for (question, fact, expected) in [
                (differences, "(and (>= (- y x) 2) (>= (- z y) 2) (>= (- x z) (- 3)))", Answer::Unsat),
                (differences, "(and (>= (- y x) 2) (>= (- z y) 2) (>= (- x z) (- 4)))", Answer::Sat),
                (LINEAR, "(and (= (+ x y z) 7) (= (* 2 (+ x y)) (* 2 z)))", Answer::Unsat),
                (LINEAR, "(and (= (+ x y z) 8) (= (* 2 (+ x y)) (* 2 z)))", Answer::Sat),
            ] {
                solver.begin(question, &stop()).expect("it begins");
                solver.tell(&format!(
                    "(declare-const x Int) (declare-const y Int) (declare-const z Int) (assert {fact})"
                ));
                assert_eq!(solver.check(&stop()), Ok(expected), "{fact}");
            }
        }
    }
}
