//! Live tests of the program, against the distribution's own RabbitMQ.

mod broker;
