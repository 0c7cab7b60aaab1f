//! Schedules in the forms of runtimes other than PyTorch's own, read as those runtimes read them.

mod megatron;
mod refusals;
mod sail_sg;
mod torchtitan;
