%% Redacts terms, by the places and the looks of secrets.
%%
%% Every shown term passes through here, and only harmless terms are shown:
%% - functions that authenticate, and functions that these call: neither arguments nor results;
%% - processes that serve a login, and parsers: no text that stands alone (`guarded`), because a password without
%%   its message looks like any other word. A name or key before a text decides about the text;
%% - elsewhere: nothing that looks like a secret, or was recognized as one before. Bytes that are no text are
%%   shown as their size.
%% The finished text is checked once more in call_trace.erl.
-module(secrets).
-export([start_secrets/0, is_secret_function/2, is_secret_call/1, is_secret_module/1, is_parser/1,
    is_login_process/1, is_logged_in/1, is_secret/1, without_login/1, redacted/4, redacted_items/4]).

%% The first known secret: the node's cookie.
start_secrets() ->
    Cookie = atom_to_binary(erlang:get_cookie(), utf8),
    put(cookie, #{erlang:get_cookie() => [], Cookie => [], unicode:characters_to_list(Cookie) => []}),
    put(learned, [Cookie]).

%% Remembers a value whose key or place marks it as a secret. Later it is redacted everywhere.
learn(Secret) when is_binary(Secret), byte_size(Secret) >= 4, byte_size(Secret) =< 256 ->
    Learned = get(learned),
    case length(Learned) < 64 andalso not lists:member(Secret, Learned) of
        true -> put(learned, [Secret | Learned]);
        false -> ok
    end;
learn([First | _] = Secret) when is_integer(First) ->
    try learn(unicode:characters_to_binary(Secret)) catch _:_ -> ok end;
learn(Secret) when is_tuple(Secret), tuple_size(Secret) =< 4 -> lists:foreach(fun learn/1, tuple_to_list(Secret));
learn(_) -> ok.

%% ---- Places ----

%% Functions that authenticate or keep credentials, and those that evaluate code, which may do so.
is_secret_function(M, F) ->
    is_secret_module(M) orelse is_login_word(lowercase(F)).

is_secret_call({M, F, _}) -> is_secret_function(M, F);
is_secret_call(_) -> false.

is_secret_module(Module) when is_atom(Module) ->
    begins_with_any(atom_to_list(Module), [
        "rabbit_auth_", "rabbit_access_control", "rabbit_credential", "credentials_", "rabbit_password", "rabbit_direct",
        "rabbit_mgmt_login", "rabbit_mgmt_wm_auth", "rabbit_mgmt_wm_login", "rabbit_mgmt_wm_user", "rabbit_mgmt_oauth",
        "rabbit_oauth", "oauth2", "uaa_", "jose", "jwt", "amqp_auth", "amqp_uri", "base64", "rabbit_ldap", "eldap", "rabbit_aws",
        "crypto", "public_key", "pubkey", "ssl", "tls_", "dtls_", "inet_tls", "dist_util", "auth", "erl_"]);
is_secret_module(_) -> false.

%% Parsers: their arguments are pieces of input, too small to recognize a secret.
is_parser({M, _, _}) ->
    begins_with_any(atom_to_list(M), [
        "jsx", "thoas", "json", "rabbit_json", "cow", "gun", "ranch", "rabbit_stomp_frame", "rabbit_mqtt_frame", "rabbit_mqtt_packet",
        "rabbit_stream_core", "rabbit_binary_parser", "rabbit_framing", "rabbit_amqp1_0", "amqp10_", "rabbit_amqp_reader",
        "io_lib", "uri_string", "http_uri", "prim_inet", "gen_tcp", "inet_tcp", "rabbit_net"]);
is_parser(_) -> false.

%% Processes that serve a login or log in elsewhere, by their start function. A process that has ended may have been
%% one. A connection's login is over when the broker's table has the connection.
is_login_process(Pid) ->
    case process_info(Pid, dictionary) of
        {_, Dictionary} ->
            Module = case lists:keyfind('$initial_call', 1, Dictionary) of {_, {M, _, _}} -> M; _ -> none end,
            Started = atom_to_list(Module),
            roles:role(Pid) =:= http orelse is_secret_module(Module) orelse lists:any(fun(Word) -> string:find(Started, Word) =/= nomatch end,
                ["reader", "handler", "connection", "http", "cowboy", "client", "session", "shovel", "federation", "ldap"]);
        undefined -> true
    end.

is_logged_in(Pid) ->
    try ets:member(connection_created, Pid) catch error:badarg -> false end.

%% ---- Words ----

is_secret(Key) when is_atom(Key) -> is_secret_word(lowercase(Key));
is_secret(Key) when is_binary(Key), byte_size(Key) < 64 -> is_secret_word(string:lowercase(binary_to_list(Key)));
is_secret([First | _] = Key) when is_integer(First) ->
    io_lib:latin1_char_list(Key) andalso length(Key) < 64 andalso is_secret_word(string:lowercase(Key));
is_secret(_) -> false.

lowercase(Atom) -> string:lowercase(atom_to_list(Atom)).

is_secret_word(Low) ->
    lists:any(fun(Word) -> string:find(Low, Word) =/= nomatch end, secret_words())
        orelse lists:member(Low, ["pass", "pw"]) orelse lists:suffix("_pass", Low) orelse lists:suffix("-pass", Low).

secret_words() ->
    ["passw", "passphrase", "passcode", "pwd", "secret", "cookie", "token", "credential", "authorization", "private_key",
        "privatekey", "private-key", "api_key", "apikey", "api-key", "access_key", "access-key"].

%% Words in the names of functions that take or return a secret.
is_login_word(Low) ->
    is_secret_word(Low) orelse lists:any(fun(Word) -> string:find(Low, Word) =/= nomatch end,
        ["login", "authenticat", "authoriz", "authn", "authz", "auth_phase", "sasl"]).

%% The name of a module or a function that authenticates, as an element of a call `{M, F, Arguments}`.
is_secret_name(Name) -> is_atom(Name) andalso (is_secret_module(Name) orelse is_login_word(lowercase(Name))).

%% Records that contain secrets. Positions differ between releases, so all texts in them are left out.
is_secret_record(Tag) when is_atom(Tag) ->
    lists:member(Tag, [internal_user, auth_user, context, stomp_configuration, mqtt_frame_connect, mqtt_packet_connect,
        amqp_params_network, amqp_params_direct, basic, bearer, digest, 'connection.start_ok', 'connection.secure', 'connection.secure_ok'])
        orelse begins_with_any(atom_to_list(Tag), ["sasl", "v1_0.sasl"]);
is_secret_record(_) -> false.

begins_with_any(Text, Starts) -> lists:any(fun(Start) -> lists:prefix(Start, Text) end, Starts).

%% ---- Texts ----

%% The shown form of a text: itself, the text without its password, or its size.
safe_text(<<>>, _) -> <<>>;
safe_text(Text, Guarded) ->
    Size = {'…', byte_size(Text), bytes},
    case Guarded orelse byte_size(Text) > 256 orelse not is_printable(Text) of
        true -> Size;
        false ->
            case looks_secret(Text) of
                true -> '[redacted]';
                false -> without_login(Text)
            end
    end.

is_printable(Text) ->
    case unicode:characters_to_list(Text) of
        Characters when is_list(Characters) -> lists:all(fun is_printable_character/1, Characters);
        _ -> false
    end.

is_printable_character(C) -> C >= 32 andalso C < 127 orelse C >= 160.

looks_secret(Text) ->
    has_learned(Text) orelse matches("^(basic|bearer|digest|negotiate|apikey|token) ", Text)
        orelse matches("^eyJ[A-Za-z0-9_-]*\\.", Text) orelse names_secret(Text) orelse is_encoded_login(Text).

has_learned(Text) ->
    case get(learned) of
        [] -> false;
        Learned -> binary:match(Text, Learned) =/= nomatch
    end.

%% `password=…`, `"token": "…"`
names_secret(Text) ->
    matches(lists:append(["(", lists:append(lists:join("|", ["pass" | secret_words()])), ").*[=:\" ]"]), Text).

%% User and password as encoded by `Authorization: Basic` or SASL.
is_encoded_login(Text) when byte_size(Text) >= 8 ->
    matches("^[A-Za-z0-9+/_-]+=*$", Text) andalso
        try base64:decode(<<Text/binary, (binary:copy(<<"=">>, (4 - byte_size(Text) rem 4) rem 4))/binary>>) of
            Plain ->
                Apart = binary:split(Plain, [<<0>>, <<":">>], [global]),
                length(Apart) > 1 andalso lists:all(fun is_printable/1, Apart)
        catch _:_ -> false
        end;
is_encoded_login(_) -> false.

%% Compiled at the first use, because a call may have hundreds of texts.
matches(Pattern, Text) ->
    Compiled = case get({pattern, Pattern}) of
        undefined ->
            {ok, New} = re:compile(Pattern, [caseless]),
            put({pattern, Pattern}, New),
            New;
        Known -> Known
    end,
    re:run(Text, Compiled, [{capture, none}]) =:= match.

%% `scheme://user:password@host` without user and password.
without_login(Text) ->
    case binary:match(Text, <<"@">>) of
        nomatch -> Text;
        _ ->
            case re:run(Text, "//[^:@\\s]*:([^\\s\"'<>]*)@", [{capture, [1], binary}]) of
                {match, [Password]} -> learn(Password);
                nomatch -> ok
            end,
            Schemed = re:replace(Text, "://[^\\s\"'<>]*@", "://[redacted]@", [global, {return, binary}]),
            re:replace(Schemed, "[^\\s/:@\"'<>]*:[^\\s/@\"'<>]+@", "[redacted]@", [global, {return, binary}])
    end.

%% ---- Terms ----

%% Redacts at most `Room` terms, down to `Depth` levels; the rest is replaced by `'…'`. `Guarded` is for texts.
redacted(Term, Depth, Room, Guarded) ->
    case is_map_key(Term, get(cookie)) of
        true -> {'[redacted]', Room - 1};
        false -> redacted_term(Term, Depth, Room, Guarded)
    end.

redacted_term(_, _, Room, _) when Room =< 0 -> {'…', 0};
redacted_term(Text, _, Room, Guarded) when is_binary(Text) -> {safe_text(Text, Guarded), Room - 1};
redacted_term(Bits, _, Room, _) when is_bitstring(Bits) -> {{'…', bit_size(Bits), bits}, Room - 1};
redacted_term([_ | _] = List, Depth, Room, Guarded) ->
    case spelt(List) of
        text -> {safe_string(List, Guarded), Room - 1};
        text_within -> {{'…', 'list with text'}, Room - 1};
        _ when Depth =:= 0 -> {'…', Room - 1};
        items -> redacted_items(List, Depth, Room - 1, Guarded)
    end;
redacted_term(Term, 0, Room, _) when is_tuple(Term); is_map(Term) -> {'…', Room - 1};
redacted_term(Tuple, _, Room, _) when is_tuple(Tuple), tuple_size(Tuple) > 64 -> {{tuple_of, tuple_size(Tuple)}, Room - 1};
redacted_term({resource, VHost, Kind, Name}, _, Room, _) when is_binary(VHost), is_atom(Kind), is_binary(Name) ->
    {{resource, safe_text(VHost, false), Kind, safe_text(Name, false)}, Room - 4};
%% Parsed code, which a user may have typed; a cookie is an atom in it.
redacted_term({Kind, Line, _}, _, Room, _) when is_integer(Line), (Kind =:= atom orelse Kind =:= string orelse Kind =:= char) ->
    {{Kind, Line, '[redacted]'}, Room - 3};
%% Two texts may be a key and its value, or a user and the password.
redacted_term({Key, Value}, Depth, Room, _) when is_binary(Key), is_binary(Value) ->
    Hidden = case is_secret(Key) of
        true -> learn(Value), '[redacted]';
        false -> safe_text(Value, true)
    end,
    {SafeKey, Left} = redacted(Key, Depth - 1, Room - 1, false),
    {{SafeKey, Hidden}, Left - 1};
redacted_term(Tuple, Depth, Room, Guarded) when is_tuple(Tuple), tuple_size(Tuple) > 1 ->
    [First | Rest] = tuple_to_list(Tuple),
    case is_secret(First) of
        true ->
            lists:foreach(fun learn/1, Rest),
            {{First, '[redacted]'}, Room - 2};
        false ->
            Bare = is_secret_record(First) orelse lists:any(fun is_secret_name/1, [First | Rest]),
            redacted_tuple(Tuple, Depth, Room, if Bare -> bare; true -> Guarded end)
    end;
redacted_term(Tuple, Depth, Room, Guarded) when is_tuple(Tuple) -> redacted_tuple(Tuple, Depth, Room, Guarded);
redacted_term(Map, _, Room, _) when is_map(Map), map_size(Map) > 64 -> {{map_of, map_size(Map)}, Room - 1};
redacted_term(Map, Depth, Room, Guarded) when is_map(Map) ->
    {Pairs, Left} = lists:mapfoldl(
        fun({Key, Value}, Rest) -> redacted_pair(Key, Value, Depth, Rest, Guarded) end, Room - 1, lists:sort(maps:to_list(Map))),
    {maps:from_list(Pairs), Left};
redacted_term(Term, _, Room, _) -> {Term, Room - 1}.

redacted_tuple(Tuple, Depth, Room, bare) when is_tuple(Tuple) ->
    {Items, Left} = lists:mapfoldl(fun(Item, Rest) -> bared(Item, Depth, Rest) end, Room - 1, tuple_to_list(Tuple)),
    {list_to_tuple(Items), Left};
redacted_tuple(Tuple, Depth, Room, Guarded) ->
    {Items, Left} = lists:mapfoldl(fun(Item, Rest) -> redacted(Item, Depth - 1, Rest, Guarded) end, Room - 1, tuple_to_list(Tuple)),
    {list_to_tuple(Items), Left}.

%% Shows only terms that cannot contain a secret.
bared(Item, Depth, Room) when is_atom(Item); is_number(Item); is_pid(Item); Item =:= [] -> redacted(Item, Depth - 1, Room, true);
bared(_, _, Room) -> {'[redacted]', Room - 1}.

%% Shows a value after a harmless key, even if texts that stand alone are hidden.
redacted_pair(Key, Value, Depth, Room, Guarded) ->
    {SafeKey, Left} = redacted(Key, min(1, Depth - 1), Room, false),
    case is_secret(Key) of
        true ->
            learn(Value),
            {{SafeKey, '[redacted]'}, Left - 1};
        false ->
            {Safe, Rest} = redacted(Value, Depth - 1, Left, Guarded andalso not is_binary(Value)),
            {{SafeKey, Safe}, Rest}
    end.

%% If a list contains a module or a function that authenticates (such as the arguments of `apply/3`), shows only
%% terms that cannot contain a secret. Other lists hide the item after a word for a secret.
redacted_items(List, Depth, Room, Guarded) ->
    redacted_list(List, Depth, Room, 0, {Guarded, case has_secret_name(List, 32) of true -> call; false -> none end}).

has_secret_name([Item | Rest], Left) when Left > 0 -> is_secret_name(Item) orelse has_secret_name(Rest, Left - 1);
has_secret_name(_, _) -> false.

redacted_list([Item | Rest], Depth, Room, Seen, {Guarded, After}) when Seen < 32, Room > 0 ->
    {Safe, Left} = case After of
        none -> redacted(Item, if is_integer(Item) -> Depth; true -> Depth - 1 end, Room, Guarded);
        secret -> learn(Item), {'[redacted]', Room - 1};
        call -> bared(Item, Depth, Room);
        secret_of_call -> learn(Item), {'[redacted]', Room - 1}
    end,
    Within = After =:= call orelse After =:= secret_of_call,
    Next = case is_secret(Item) of
        true when Within -> secret_of_call;
        true -> secret;
        false when Within -> call;
        false -> none
    end,
    {More, Last} = redacted_list(Rest, Depth, Left, Seen + 1, {Guarded, Next}),
    {[Safe | More], Last};
redacted_list([], _, Room, _, _) -> {[], Room};
redacted_list([_ | _], _, Room, _, _) -> {['…'], Room};
redacted_list(_, _, Room, _, {_, After}) when After =/= none -> {'[redacted]', Room - 1};
redacted_list(Improper, Depth, Room, _, {Guarded, _}) -> redacted(Improper, Depth - 1, Room, Guarded).

%% Decides whether a list is a text, contains one, or is a list of items. Items after the first 4096 are never shown.
spelt(List) -> spelt(List, 4096, 0, true).

spelt([C | Rest], Left, Run, Whole) when is_integer(C), Left > 0 ->
    case C < 16#110000 andalso is_printable_character(C) of
        true -> spelt(Rest, Left - 1, Run + 1, Whole);
        false when Run >= 4 -> text_within;
        false -> spelt(Rest, Left - 1, 0, false)
    end;
spelt([], _, Run, true) when Run > 0 -> text;
spelt(_, _, Run, _) when Run >= 4 -> text_within;
spelt([_ | Rest], Left, _, _) when Left > 0 -> spelt(Rest, Left - 1, 0, false);
spelt(_, _, _, _) -> items.

safe_string(List, Guarded) ->
    try unicode:characters_to_binary(List) of
        Text when is_binary(Text) ->
            case safe_text(Text, Guarded) of
                Shown when is_binary(Shown) -> unicode:characters_to_list(Shown);
                Other -> Other
            end;
        _ -> {'…', length(List), characters}
    catch _:_ -> {'…', length(List), characters}
    end.
