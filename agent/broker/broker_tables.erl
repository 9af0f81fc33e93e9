%% Reads queues, connections and channels from the tables that the broker fills.
-module(broker_tables).
-export([each/3, each_found/4, local/1, infos/2, text/2, protocol/1]).

%% Calls Each(Pid, Key, Acc) for each process of a kind; Key is the name of a queue.
each(processes, Each, Acc) ->
    each_process(fun (Pid, In) when Pid =:= self() -> In; (Pid, In) -> Each(Pid, none, In) end, Acc);
each(queues, Each, Acc) ->
    Head = queue_table:queue_head([{name, '$1'}, {pid, '$2'}]),
    each_found(queue_table:queue_table(), [{Head, [], [{{'$2', '$1'}}]}], fun ({Process, Name}, In) ->
        case local(Process) of
            none -> In;
            Pid -> Each(Pid, Name, In)
        end
    end, Acc);
%% Processes of quorum queues whose leaders are on other nodes.
each(followers, Each, Acc) ->
    Head = queue_table:queue_head([{name, '$1'}, {pid, {'$2', '$3'}}]),
    Elsewhere = [{is_atom, '$2'}, {'=/=', '$3', {const, node()}}],
    each_found(queue_table:queue_table(), [{Head, Elsewhere, [{{'$2', '$1'}}]}], fun ({Registered, Name}, In) ->
        case whereis(Registered) of
            undefined -> In;
            Pid -> Each(Pid, Name, In)
        end
    end, Acc);
each(connections, Each, Acc) -> created(connection_created, Each, Acc);
each(channels, Each, Acc) -> created(channel_created, Each, Acc).

%% OTP 28 and later have an iterator. Earlier ones return a list of all pids, 16 bytes each.
each_process(Each, Acc) ->
    case erlang:function_exported(erlang, processes_iterator, 0) of
        true -> next_process(apply(erlang, processes_iterator, []), Each, Acc);
        false -> lists:foldl(Each, Acc, processes())
    end.

next_process(Iterator, Each, Acc) ->
    case apply(erlang, processes_next, [Iterator]) of
        {Pid, Rest} -> next_process(Rest, Each, Each(Pid, Acc));
        none -> Acc
    end.

created(Table, Each, Acc) ->
    each_found(Table, [{{'$1', '_'}, [], ['$1']}], fun (Pid, In) -> Each(Pid, none, In) end, Acc).

each_found(Table, Specification, Each, Acc) ->
    queue_table:in_pieces(Table, Specification, fun (Found, In) -> lists:foldl(Each, In, Found) end, Acc).

%% The pid of a process on this node. A quorum queue has a registered name in place of a pid.
local(Pid) when is_pid(Pid), node(Pid) =:= node() -> Pid;
local({Name, Node}) when Node =:= node() ->
    case whereis(Name) of undefined -> none; Pid -> Pid end;
local(_) -> none.

%% The properties of a connection or a channel in a table.
infos(Table, Pid) -> try ets:lookup_element(Table, Pid, 2) catch error:badarg -> [] end.

text(Key, Infos) ->
    case proplists:get_value(Key, Infos) of
        Text when is_binary(Text) -> Text;
        _ -> <<>>
    end.

%% The name of a connection's protocol.
protocol({Major, Minor, Patch}) -> iolist_to_binary(io_lib:format("AMQP ~p-~p-~p", [Major, Minor, Patch]));
protocol({Name, Version}) -> iolist_to_binary(io_lib:format("~tp ~tp", [Name, Version]));
protocol(Other) -> iolist_to_binary(io_lib:format("~tp", [Other])).
