%% Describes the activity and state of one process, and lists processes that wait for others.
%%
%% A small agent (see README.md). It sets up nothing on the node.
-module(rabbitscope_process).
-export([start/3, cleanup/1]).

start(Controller, Keeper, Options) -> small_agent:serve(Controller, Keeper, Options, fun answered/2).

cleanup(_) -> ok.

answered(process, #{who := Who}) -> process_view:view(found_process(Who));
answered(waits, #{limit := Limit}) ->
    {Rows, Count} = process_waits:waiting(Limit),
    #{rows => Rows, count => Count}.

%% Finds a process by pid or registered name. Creates no atom from a name.
found_process(Who) ->
    Registered = try whereis(binary_to_existing_atom(Who, utf8)) catch error:badarg -> undefined end,
    case [Pid || Pid <- [roles:local_pid(Who), Registered], is_pid(Pid)] of
        [Pid | _] -> Pid;
        [] -> throw({refused, no_such_process, iolist_to_binary(["no process on the node is ", Who])})
    end.
