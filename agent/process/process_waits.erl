%% Processes that wait for the answer of another.
%%
%% A process that calls a server waits in gen:do_call, and monitors the server meanwhile. Several monitors are all
%% named, because the VM does not mark the one of the call.
-module(process_waits).
-export([chain/1, waiting/1, other_name/1]).

%% The processes that a process waits for, the nearest first: `[[Name]]`, with several names if it may be any of them.
%% `circle` at the end stands for the first again.
chain(Pid) -> chain(Pid, [Pid], 8).

chain(_, _, 0) -> [];
chain(Pid, Before, Left) ->
    case waited_for(Pid) of
        [] -> [];
        [Next] when is_pid(Next), node(Next) =:= node() ->
            case lists:member(Next, Before) of
                true -> [[other_name(Next)], circle];
                false -> [[other_name(Next)] | chain(Next, [Next | Before], Left - 1)]
            end;
        Several -> [[other_name(Other) || Other <- lists:sublist(Several, 5)]]
    end.

waited_for(Pid) ->
    case process_info(Pid, [current_function, monitors]) of
        [{_, {gen, do_call, _}}, {_, Monitors}] -> [Other || {process, Other} <- Monitors];
        _ -> []
    end.

%% `[{Pid, Name, Role, Chain}]` of the processes that wait, at most `Limit`, the longest chains first, and how many wait.
waiting(Limit) ->
    Found = [Pid || Pid <- processes(), Pid =/= self(), process_info(Pid, current_function) =:= {current_function, {gen, do_call, 4}}],
    Chains = [{length(Chain), Pid, Chain} || Pid <- lists:sublist(Found, 2000), Chain <- [chain(Pid)], Chain =/= []],
    Longest = lists:sublist(lists:reverse(lists:sort(Chains)), Limit),
    {[{Pid, roles:process_name(Pid), roles:shown_role(Pid), Chain} || {_, Pid, Chain} <- Longest], length(Chains)}.

%% A readable name of a process or port that another is linked to, monitors, or waits for.
other_name(Pid) when is_pid(Pid), node(Pid) =:= node() ->
    Shown = list_to_binary(pid_to_list(Pid)),
    case roles:process_name(Pid) of
        <<>> -> Shown;
        Name -> <<Name/binary, " ", Shown/binary>>
    end;
other_name(Pid) when is_pid(Pid) -> iolist_to_binary([pid_to_list(Pid), " on ", atom_to_list(node(Pid))]);
other_name(Port) when is_port(Port) ->
    case erlang:port_info(Port, name) of
        {name, Name} -> iolist_to_binary([erlang:port_to_list(Port), " ", Name]);
        _ -> iolist_to_binary(erlang:port_to_list(Port))
    end;
other_name({Name, Node}) when is_atom(Name), is_atom(Node) -> iolist_to_binary(io_lib:format("~ts on ~ts", [Name, Node]));
other_name(Name) when is_atom(Name) -> atom_to_binary(Name, utf8);
other_name(_) -> <<"another">>.
