%% Reads the broker's table of queue records, whose form and name differ between releases.
-module(queue_table).
-export([queue_head/1, queue_table/0, in_pieces/4, running_nodes/0]).

%% A match head for the record of a queue. Its fields differ between releases; the broker lists them. Variables are
%% `[{Field, Pattern}]`; all other fields match anything.
queue_head(Variables) ->
    list_to_tuple([amqqueue | [proplists:get_value(Field, Variables, '_') || Field <- apply(amqqueue, fields, [])]]).

queue_table() ->
    hd([Table || Table <- [rabbit_khepri_queue, rabbit_queue], ets:info(Table, size) =/= undefined]).

%% Calls Each(Found, Acc) for the matches of a match specification, 500 at a time, so that its memory does not grow
%% with the table. Rows that are inserted or deleted meanwhile may be missed; none is found twice.
in_pieces(Table, Specification, Each, Acc) ->
    ets:safe_fixtable(Table, true),
    try go_on(ets:select(Table, Specification, 500), Each, Acc)
    after ets:safe_fixtable(Table, false)
    end.

go_on('$end_of_table', _, Acc) -> Acc;
go_on({Found, Next}, Each, Acc) -> go_on(ets:select(Next), Each, Each(Found, Acc)).

%% The nodes with a running broker (not only a running VM), as far as this node knows.
running_nodes() ->
    case queue_table() =:= rabbit_queue andalso catch mnesia:system_info(running_db_nodes) of
        [_ | _] = Running -> Running;
        _ -> [node() | nodes()]
    end.
