%% Messages since the node started, over all protocols and types of queues.
-module(message_counters).
-export([counters/0]).

counters() ->
    All = maps:values(apply(rabbit_global_counters, overview, [])),
    Sum = fun (Names) -> lists:sum([maps:get(Name, Some, 0) || Some <- All, Name <- Names]) end,
    #{
        published => Sum([messages_received_total]),
        confirmed => Sum([messages_confirmed_total]),
        delivered => Sum([messages_delivered_total]),
        acknowledged => Sum([messages_acknowledged_total]),
        redelivered => Sum([messages_redelivered_total]),
        unroutable => Sum([messages_unroutable_dropped_total, messages_unroutable_returned_total]),
        got => Sum([messages_delivered_get_manual_ack_total, messages_delivered_get_auto_ack_total]),
        get_empty => Sum([messages_get_empty_total])
    }.
