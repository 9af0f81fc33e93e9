%% Figures of the Erlang VM between the start and the end of a check.
-module(check_vm).
-export([vm_counters/0, vm_figures/2]).

vm_counters() ->
    #{schedulers => erlang:statistics(scheduler_wall_time_all), reductions => element(1, erlang:statistics(reductions)),
        traffic => peer_traffic()}.

vm_figures(#{schedulers := Schedulers, reductions := Reductions, traffic := Traffic}, ElapsedMs) ->
    #{schedulers => scheduler_use:use_of_schedulers(Schedulers, erlang:statistics(scheduler_wall_time_all)),
        online => erlang:system_info(schedulers_online),
        normal => erlang:system_info(schedulers),
        dirty_cpu => erlang:system_info(dirty_cpu_schedulers),
        dirty_io => erlang:system_info(dirty_io_schedulers),
        reductions => (element(1, erlang:statistics(reductions)) - Reductions) * 1000 div ElapsedMs,
        processes => erlang:system_info(process_count),
        buffer_limit => erlang:system_info(dist_buf_busy_limit),
        traffic => [{Node, max(0, In - In0), max(0, Out - Out0), Own, Other} || {Node, In, Out, Own, Other} <- peer_traffic(),
            {Before, In0, Out0, _, _} <- Traffic, Before =:= Node],
        flags => vm_flags()}.

%% `{Node, BytesIn, BytesOut, OwnTcpPort, OtherTcpPort}` of other nodes. A node behind TLS has a process in place of a port.
peer_traffic() ->
    [{Node, In, Out, tcp_port(inet:sockname(Port)), tcp_port(inet:peername(Port))} || {Node, Port} <- erlang:system_info(dist_ctrl), is_port(Port), lists:member(Node, nodes()),
        {ok, [{_, In}, {_, Out}]} <- [inet:getstat(Port, [recv_oct, send_oct])]].

tcp_port({ok, {_, Number}}) -> Number;
tcp_port(_) -> 0.

%% `[{Flag, Value}]` of the command line; only known flags, with the last value of each.
vm_flags() ->
    Arguments = try erlang:system_info(emu_args) catch error:badarg -> [] end,
    Bind = {<<"+sbt">>, iolist_to_binary(io_lib:format("~tp", [erlang:system_info(scheduler_bind_type)]))},
    maps:to_list(maps:from_list([Bind | given_flags([argument(One) || One <- Arguments])])).

given_flags([[_ | Flag], [Sign | _] = Value | Rest]) when Sign =/= $- ->
    Known = ["sbwt", "sbwtdcpu", "sbwtdio", "swt", "stbt", "sbt", "zdbbl", "S", "SP", "SDcpu", "SDio", "P", "Q", "A", "K"],
    case lists:member(Flag, Known) of
        true -> [{list_to_binary([$+ | Flag]), unicode:characters_to_binary(Value)} | given_flags(Rest)];
        false -> given_flags([Value | Rest])
    end;
given_flags([_ | Rest]) -> given_flags(Rest);
given_flags([]) -> [].

argument(Text) when is_binary(Text) -> unicode:characters_to_list(Text);
argument(Text) -> Text.
