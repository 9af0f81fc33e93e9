-module(planted_server).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init(_) -> {ok, none}.

handle_call(slow, _, State) ->
    planted:spin(25),
    receive after 10 -> ok end,
    {reply, ok, State}.

handle_cast(_, State) -> {noreply, State}.
