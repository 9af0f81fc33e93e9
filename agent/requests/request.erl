%% Means of a request's process: its heap limit, events and their credit, and the announcement of leftovers on
%% the node.
-module(request).
-export([limits/1, otp_release/0, announce/2, event/2, add_credit/1, send_rows/3]).

%% Options of a process of the agent. It has priority over the observed processes, so that their events are taken
%% and the request ends in time, however busy they are.
limits(Bytes) ->
    Limit = #{size => Bytes div erlang:system_info(wordsize), kill => true, error_logger => false},
    Known = case otp_release() >= 28 of
        true -> Limit#{include_shared_binaries => true};
        false -> Limit
    end,
    [{max_heap_size, Known}, {message_queue_data, off_heap}, {priority, high}].

otp_release() ->
    list_to_integer(erlang:system_info(otp_release)).

%% Announces leftovers on the node to agent and keeper. Returns after the keeper has them.
announce(#{agent := Agent}, What) ->
    Mark = make_ref(),
    Agent ! {arm, self(), Mark, What},
    receive Mark -> ok end.

%% Sends an event if there is credit, otherwise counts it.
event(#{controller := Controller, ref := Ref}, Data) ->
    case get(credit) of
        Credit when Credit > 0 ->
            put(credit, Credit - 1),
            Controller ! {rabbitscope, Ref, {event, Data}},
            true;
        _ ->
            put(not_sent, get(not_sent) + 1),
            false
    end.

%% Permits N more events.
add_credit(N) ->
    put(credit, get(credit) + N).

%% Sends rows as events of at most 1,000 rows, far below the largest message of 1 MiB.
send_rows(_, _, []) -> ok;
send_rows(To, What, Rows) ->
    {Now, Later} = lists:split(min(1000, length(Rows)), Rows),
    event(To, {What, Now}),
    send_rows(To, What, Later).
