%% The budgets of a request: time, events, memory, mailbox.
-module(budgets).
-export([budget/2, start_clocks/1, over_memory/1, memory_stop/3, events_left/1, mailbox/0]).

%% What a request may use. The node's memory is that before anything is prepared.
budget(#{args := Args, agent := Agent}, Defaults) ->
    Names = [max_events, max_bytes, duration_ms, max_mailbox, max_node_memory_bytes, max_node_growth_bytes],
    All = maps:merge(Defaults#{max_node_growth_bytes => 503316480}, maps:with(Names, Args)),
    All#{memory => erlang:memory(total), agent => Agent}.

%% Starts the clocks, once everything is prepared.
start_clocks(#{duration_ms := Duration}) ->
    erlang:send_after(Duration, self(), time_is_up),
    erlang:send_after(100, self(), look_at_memory).

%% Which budget of memory is used up: the node's growth, or what this request itself has gathered.
over_memory(#{memory := Before, agent := Agent} = Budget) ->
    erlang:send_after(100, self(), look_at_memory),
    {memory, Own} = process_info(self(), memory),
    %% Mailboxes are part of it.
    Agents = case process_info(Agent, memory) of {memory, Bytes} -> Bytes; undefined -> 0 end,
    case memory_stop(erlang:memory(total) - Before, Own + Agents, Budget) of
        none -> case Own > maps:get(max_bytes, Budget, infinity) of true -> max_bytes; false -> none end;
        Stop -> Stop
    end.

%% A node that works hard grows by itself, by hundreds of megabytes within a second. To end a probe for that
%% helps nobody: it ends when a quarter of the growth and more is its own, or when the node has grown so
%% much that it had better be left alone.
memory_stop(Grown, _, #{max_node_growth_bytes := Most}) when Grown > Most -> max_node_growth_bytes;
memory_stop(Grown, Own, #{max_node_memory_bytes := Most}) when Grown > Most, 4 * Own >= Grown -> max_node_memory_bytes;
memory_stop(_, _, _) -> none.

%% Events that nobody has looked at, when it is over.
events_left(N) ->
    receive Event when element(1, Event) =:= trace_ts -> events_left(N + 1)
    after 0 -> N
    end.

mailbox() ->
    {message_queue_len, N} = process_info(self(), message_queue_len),
    N.
