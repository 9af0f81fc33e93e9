%% Lists the holders of the node's memory: processes, queues, tables, sockets, and the VM itself.
%%
%% A small agent (see README.md). A request goes through all processes, ports and tables once, in pieces. It adds up in a
%% table of its own process, and sends the largest rows. It ends at its deadline, and lists the unread parts.
-module(rabbitscope_memory).
-export([start/3, cleanup/1]).

start(Controller, Keeper, Options) ->
    small_agent:serve(Controller, Keeper, Options, fun (memory, Args) -> memory([Keeper | own_processes()], Args) end).

cleanup(_) -> ok.

%% This process and the agent that it is linked to.
own_processes() ->
    {links, Links} = process_info(self(), links),
    [self() | Links].

memory(Own, #{limit := Limit, budget_ms := BudgetMs}) ->
    Began = erlang:monotonic_time(microsecond),
    Deadline = erlang:monotonic_time(millisecond) + BudgetMs,
    Holders = ets:new(holders, [set, private]),
    Owners = ets:new(owners, [set, private]),
    memory_queues:add_processes(Owners),
    Walk = memory_processes:walk(Deadline, fun (Row) -> add_process(Row, Own, Holders, Owners) end),
    OnSockets = add_sockets(Holders, Owners),
    Kinds = memory_kinds:kinds(),
    Of = ets:foldl(fun (Row, Sum) -> Sum + element(5, Row) end, 0, Holders),
    Tables = tables_with_binaries(Owners, proplists:get_value(binary, Kinds) - Of - OnSockets, Deadline),
    lists:foreach(fun (Table) -> add_table(Table, Holders, Owners) end, Tables),
    #{
        kinds => Kinds,
        otp => list_to_integer(erlang:system_info(otp_release)),
        allocated => memory_kinds:allocated(),
        resident => memory_kinds:resident(),
        persistent_terms => memory_kinds:persistent_terms(),
        limits => limits:counts() ++ [{sockets, limits:socket_count(), none}],
        in_processes => Of,
        in_sockets => OnSockets,
        in_tables => lists:sum([Bytes || {_, _, {Bytes, _}} <- Tables]),
        groups => groups(Holders),
        rows => [holder_row(Row) || Row <- largest(Holders, fun total/1, Limit)],
        mailboxes => [holder_row(Row) || Row <- largest(Holders, fun (Row) -> element(8, Row) end, 3), element(8, Row) > 0],
        tables => [table_row(Table) || Table <- largest_tables(Tables, Limit)],
        unread_tables => length([unread || {{_, _, _, Objects, _, _}, _, unreadable} <- Tables, Objects > 0]),
        processes => maps:get(seen, Walk),
        processes_left => maps:get(left, Walk),
        unanswered => length(maps:get(unanswered, Walk)),
        silent => lists:sublist(maps:get(unanswered, Walk), 5),
        unlisted => length(maps:get(unlisted, Walk)),
        took_us => erlang:monotonic_time(microsecond) - Began
    }.

%% ---- Holders ----

%% A row is {Key, Role, Processes, Memory, Binaries, Tables, Sockets, Mailbox}.
add(Holders, Key, Role, Counts) ->
    Positions = lists:zip([3, 4, 5, 6, 7, 8], Counts),
    ets:update_counter(Holders, Key, [One || {_, Count} = One <- Positions, Count > 0], {Key, Role, 0, 0, 0, 0, 0, 0}).

total(Row) -> element(4, Row) + element(5, Row) + element(6, Row) + element(7, Row).

add_process({Pid, Role, Memory, Binaries, Mailbox}, Own, Holders, Owners) ->
    {Key, Shown} = case lists:member(Pid, Own) of
        true -> {{process, Pid}, rabbitscope};
        false -> holder(Pid, Role, Owners)
    end,
    add(Holders, Key, Shown, [1, Memory, Binaries, 0, 0, Mailbox]).

%% The queue that a process works for, or the process itself.
holder(Pid, Role, Owners) ->
    case ets:lookup(Owners, Pid) of
        [{_, Queue}] -> {{queue, Queue}, kind_of_queue(Role)};
        [] -> {{process, Pid}, Role}
    end.

kind_of_queue(Role) when Role =:= queue; Role =:= mirror -> classic_queue;
kind_of_queue(ra_server) -> quorum_queue;
kind_of_queue(Role) when Role =:= stream_writer; Role =:= stream_replica -> stream;
kind_of_queue(_) -> queue.

%% Output that the sockets' drivers have not written yet.
add_sockets(Holders, Owners) ->
    lists:foldl(fun (Port, Sum) ->
        case {erlang:port_info(Port, queue_size), erlang:port_info(Port, connected)} of
            {{_, Bytes}, {_, Pid}} when Bytes > 0 ->
                {Key, _} = holder(Pid, other, Owners),
                add(Holders, Key, roles:role(Pid), [0, 0, 0, 0, Bytes, 0]),
                Sum + Bytes;
            _ -> Sum
        end
    end, 0, erlang:ports()).

%% A queue's table belongs to the queue, a table without a name to its owner. One with a name stands by itself.
add_table({{Id, Name, Owner, _, Bytes, _}, Queue, Read}, Holders, Owners) ->
    {Key, Role} = case {Queue, is_named(Id, Name)} of
        {none, true} -> {{table, Id}, table};
        {none, false} -> holder(Owner, other, Owners);
        {_, _} -> {{queue, Queue}, quorum_queue}
    end,
    Binaries = case Read of {Found, _} -> Found; unreadable -> 0 end,
    add(Holders, Key, Role, [0, 0, Binaries, Bytes, 0, 0]).

is_named(Id, Name) -> Id =:= Name.

groups(Holders) ->
    Sums = ets:foldl(fun ({_, Role, Processes, Memory, Binaries, Tables, Sockets, Mailbox}, Groups) ->
        maps:update_with(Role, fun (Sum) ->
            list_to_tuple(lists:zipwith(fun erlang:'+'/2, tuple_to_list(Sum), [1, Processes, Memory, Binaries, Tables, Sockets, Mailbox]))
        end, {1, Processes, Memory, Binaries, Tables, Sockets, Mailbox}, Groups)
    end, #{}, Holders),
    [{Role, tuple_to_list(Sum)} || {Role, Sum} <- maps:to_list(Sums)].

largest(Holders, Value, Limit) ->
    Best = ets:foldl(fun (Row, Found) ->
        More = gb_sets:add({Value(Row), Row}, Found),
        case gb_sets:size(More) > Limit of true -> element(2, gb_sets:take_smallest(More)); false -> More end
    end, gb_sets:empty(), Holders),
    [Row || {_, Row} <- lists:reverse(gb_sets:to_list(Best))].

holder_row({Key, Role, Processes, Memory, Binaries, Tables, Sockets, Mailbox}) ->
    Common = #{role => Role, processes => Processes, memory => Memory, binaries => Binaries, tables => Tables, sockets => Sockets,
        mailbox => Mailbox},
    maps:merge(Common, described_holder(Key)).

described_holder({queue, {resource, VHost, queue, Name}}) -> #{name => Name, vhost => VHost};
described_holder({process, Pid}) -> #{name => roles:process_name(Pid), pid => Pid};
described_holder({table, Name}) -> #{name => atom_to_binary(Name, utf8)}.

%% ---- Tables ----

%% `[{Table, Queue | none, {BinaryBytes, ObjectsRead} | unreadable}]`. First some objects of every table are read.
%% If these do not explain the binaries that no process refers to, large tables are read until they do, or until the
%% deadline.
tables_with_binaries(Owners, Unexplained, Deadline) ->
    Queues = memory_queues:tables_of_queues(Owners),
    Tables = [{Table, maps:get(element(1, Table), Queues, none), first_look(Table, Deadline)} || Table <- memory_tables:listed()],
    Sampled = lists:sum([estimate(Table) || Table <- Tables]),
    Tolerance = max(1048576, abs(Unexplained) div 20),
    case abs(Unexplained - Sampled) =< Tolerance of
        true -> [settled(Table) || Table <- Tables];
        false -> read_more(by_size(Tables), Deadline, [])
    end.

first_look(Table, Deadline) -> look(Table, 200, Deadline).

look(Table, Max, Deadline) ->
    case erlang:monotonic_time(millisecond) > Deadline of
        true -> unreadable;
        false -> memory_tables:binaries_of(Table, Max)
    end.

estimate({_, _, unreadable}) -> 0;
estimate({_, _, {_, 0}}) -> 0;
estimate({{_, _, _, Objects, _, _}, _, {Bytes, Read}}) -> Bytes * max(Objects, Read) div Read.

settled({_, _, unreadable} = Table) -> Table;
settled({Description, Queue, {_, Read}} = Table) -> {Description, Queue, {estimate(Table), Read}}.

%% Tables with the most binaries first, then those with the most objects.
by_size(Tables) ->
    Ranked = [{{estimate(Table), element(4, element(1, Table))}, Table} || Table <- Tables],
    [Table || {_, Table} <- lists:reverse(lists:sort(Ranked))].

read_more([], _, Done) -> Done;
read_more([{{_, _, _, Objects, _, _} = Description, Queue, {_, Read}} = Table | Rest], Deadline, Done) when Objects > Read ->
    Now = case look(Description, 200000, Deadline) of
        unreadable -> settled(Table);
        More -> settled({Description, Queue, More})
    end,
    read_more(Rest, Deadline, [Now | Done]);
read_more([Table | Rest], Deadline, Done) -> read_more(Rest, Deadline, [Table | Done]).

largest_tables(Tables, Limit) ->
    Size = fun ({{_, _, _, _, Bytes, _}, _, Read}) -> Bytes + case Read of {Binaries, _} -> Binaries; _ -> 0 end end,
    Sorted = lists:sort(fun (A, B) -> Size(A) >= Size(B) end, Tables),
    lists:sublist(Sorted, Limit).

table_row({{Id, Name, Owner, Objects, Bytes, Protection}, Queue, Read}) ->
    {Binaries, Seen} = case Read of {_, _} -> Read; unreadable -> {unknown, 0} end,
    Common = #{name => table_name(Id, Name), owner => roles:process_name(Owner), owner_pid => Owner, objects => Objects,
        bytes => Bytes, binaries => Binaries, read => Seen, protection => Protection},
    case Queue of
        {resource, VHost, queue, Of} -> Common#{queue => Of, vhost => VHost};
        none -> Common
    end.

table_name(_, Name) when is_atom(Name) -> atom_to_binary(Name, utf8).
