//! Live tests of the throwaway broker, with the distribution's own RabbitMQ.

mod broker;
