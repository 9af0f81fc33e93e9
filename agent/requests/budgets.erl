%% The budgets of a request: time, events, memory, mailbox.
-module(budgets).
-export([budget/2, start_clocks/1, over_memory/1, memory_stop/3, events_left/1, mailbox/0]).

%% The budget of a request: defaults, overridden by `Args`. `memory` is the node's memory before the preparation.
budget(#{args := Args, agent := Agent}, Defaults) ->
    Names = [max_events, max_bytes, duration_ms, max_mailbox, max_node_memory_bytes, max_node_growth_bytes],
    All = maps:merge(Defaults#{max_node_growth_bytes => 503316480}, maps:with(Names, Args)),
    All#{memory => erlang:memory(total), agent => Agent}.

%% Starts the timers, after the preparation.
start_clocks(#{duration_ms := Duration}) ->
    erlang:send_after(Duration, self(), time_is_up),
    erlang:send_after(100, self(), look_at_memory).

%% The exhausted memory budget, if any: growth of the node, or memory of the request's process.
over_memory(#{memory := Before, agent := Agent} = Budget) ->
    erlang:send_after(100, self(), look_at_memory),
    {memory, Own} = process_info(self(), memory),
    %% Mailboxes are part of a process's memory.
    Agents = case process_info(Agent, memory) of {memory, Bytes} -> Bytes; undefined -> 0 end,
    case memory_stop(erlang:memory(total) - Before, Own + Agents, Budget) of
        none -> case Own > maps:get(max_bytes, Budget, infinity) of true -> max_bytes; false -> none end;
        Stop -> Stop
    end.

%% A busy node grows by itself, by hundreds of megabytes within a second, and ending the request would not help it.
%% So the request ends if at least a quarter of the growth is its own, or if the node has grown by more than
%% `max_node_growth_bytes` for any reason.
memory_stop(Grown, _, #{max_node_growth_bytes := Most}) when Grown > Most -> max_node_growth_bytes;
memory_stop(Grown, Own, #{max_node_memory_bytes := Most}) when Grown > Most, 4 * Own >= Grown -> max_node_memory_bytes;
memory_stop(_, _, _) -> none.

%% Number of events that were not processed before the end.
events_left(N) ->
    receive Event when element(1, Event) =:= trace_ts -> events_left(N + 1)
    after 0 -> N
    end.

mailbox() ->
    {message_queue_len, N} = process_info(self(), message_queue_len),
    N.
