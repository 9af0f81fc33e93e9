%% Processes and tables by the queue that they belong to.
-module(memory_queues).
-export([add_processes/1, tables_of_queues/1, tables_by_queue/0, table_bytes/2, binary_bytes/2]).

%% Inserts {Pid, Queue} for each process of a queue on this node, and {RegisteredName, Queue} for those of Ra.
add_processes(Owners) ->
    Add = fun (Pid, Queue, Acc) ->
        ets:insert(Owners, {Pid, Queue}),
        case process_info(Pid, registered_name) of
            {registered_name, Name} when is_atom(Name) -> ets:insert(Owners, {Name, Queue});
            _ -> ok
        end,
        Acc
    end,
    broker_tables:each(queues, Add, none),
    broker_tables:each(followers, Add, none).

%% `#{Table => Queue}` for tables that a process of Ra keeps for a queue's process. Ra lists them in indexes: tables
%% with rows that begin with the server's identifier. Their form differs between releases, so rows of any index are
%% searched for identifiers, registered names and tables.
tables_of_queues(Owners) ->
    Rows = lists:append([index_rows(Table) || Table <- ets:all(), is_index(Table)]),
    Servers = maps:from_list([{Id, Queue} || [Id | Rest] <- Rows, Name <- Rest, is_atom(Name), {_, Queue} <- ets:lookup(Owners, Name)]),
    maps:from_list([{Table, maps:get(Id, Servers)} || [Id | Rest] <- Rows, Table <- Rest, is_reference(Table), is_map_key(Id, Servers)]).

%% `#{Queue => [Table]}`.
tables_by_queue() ->
    Owners = ets:new(owners, [set, private]),
    add_processes(Owners),
    Queues = tables_of_queues(Owners),
    ets:delete(Owners),
    maps:fold(fun (Table, Queue, Found) ->
        maps:update_with(Queue, fun (Others) -> [Table | Others] end, [Table], Found)
    end, #{}, Queues).

%% Bytes of a queue's tables, without the binaries that their objects refer to.
table_bytes(Queue, Tables) ->
    Words = [ets:info(Table, memory) || Table <- maps:get(Queue, Tables, [])],
    lists:sum([Count || Count <- Words, is_integer(Count)]) * erlang:system_info(wordsize).

%% The tables' share of these binaries, from some objects of each.
binary_bytes(Queue, Tables) ->
    lists:sum([sampled_bytes(Table) || Table <- maps:get(Queue, Tables, [])]).

sampled_bytes(Table) ->
    Objects = ets:info(Table, size),
    case is_integer(Objects) andalso memory_tables:binaries_of({Table, none, none, Objects, 0, ets:info(Table, protection)}, 200) of
        {Bytes, Read} when Read > 0 -> Bytes * max(Objects, Read) div Read;
        _ -> 0
    end.

is_index(Table) ->
    Name = ets:info(Table, name),
    is_atom(Name) andalso lists:prefix("ra_", atom_to_list(Name)) andalso ets:info(Table, protection) =/= private
        andalso is_small(ets:info(Table, size), ets:info(Table, memory)).

%% Rows of an index are a few words each.
is_small(Size, Words) when is_integer(Size), is_integer(Words) -> Size > 0 andalso Size =< 100000 andalso Words div Size =< 4096;
is_small(_, _) -> false.

index_rows(Table) ->
    try queue_table:in_pieces(Table, [{'$1', [], ['$1']}], fun (Found, Rows) ->
        [Row || Object <- Found, Row <- [identified(tuple_to_list(Object))], Row =/= none] ++ Rows
    end, [])
    catch error:badarg -> [] end.

%% The identifier, and the atoms and references of the row.
identified([Id | Rest]) when is_binary(Id) -> [Id | named(Rest)];
identified([{Id, Other} | Rest]) when is_binary(Id) -> [Id | named([Other | Rest])];
identified(_) -> none.

named(Values) -> [Value || Value <- Values, is_atom(Value) orelse is_reference(Value)].
