//! Erlang for nodes of tests.

/// A function of virtual host, queue and body, all binaries. It publishes through the default exchange, without a
/// channel and without confirms, on RabbitMQ 3 and 4. It cannot publish to streams.
pub const PUBLISH: &str = "fun(VHost, Queue, Body) -> \
    Exchange = rabbit_misc:r(VHost, exchange, <<>>), \
    code:ensure_loaded(rabbit_basic), \
    case erlang:function_exported(rabbit_basic, publish, 4) of \
        true -> rabbit_basic:publish(Exchange, Queue, [], Body); \
        false -> \
            Content = rabbit_basic:build_content(rabbit_basic:properties([]), Body), \
            {ok, Message} = mc_amqpl:message(Exchange, Queue, Content), \
            rabbit_queue_type:publish_at_most_once(Exchange, Message) \
    end end";
