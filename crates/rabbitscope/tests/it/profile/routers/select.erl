%% Finds the queues of a message as RabbitMQ did before it had an index of routes: a match
%% specification is built, compiled and run for each message. Written for the test, after the
%% interface of the module whose place it takes.
-module(rabbit_router).
-export([match_bindings/2, match_routing_key/2]).

match_bindings(Source, Match) ->
    Routes = ets:select(rabbit_route, [{{route, {binding, Source, '_', '_', '_'}, '_'}, [], ['$_']}]),
    [element(4, Binding) || {route, Binding, _} <- Routes, Match(Binding)].

match_routing_key(Source, Keys) ->
    lists:append([by_key(Source, Key) || Key <- Keys]).

by_key(Source, Key) ->
    Head = {route, {binding, Source, Key, '$1', '_'}, '_'},
    ets:select(rabbit_route, [{Head, [], ['$1']}]).
