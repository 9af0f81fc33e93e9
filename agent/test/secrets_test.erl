%% Terms as secrets.erl redacts them, for the tests of crates/erlang.
-module(secrets_test).
-export([shown/2]).

shown(Guarded, Term) ->
    secrets:start_secrets(),
    {Safe, _} = secrets:redacted(Term, 6, 300, Guarded),
    unicode:characters_to_binary(io_lib:format("~0tp", [Safe])).
