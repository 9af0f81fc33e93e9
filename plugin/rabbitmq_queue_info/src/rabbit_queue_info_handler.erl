%% GET /queue-info and GET /queue-info/VHOST, for the broker's own users.
%%
%% A user needs one of the tags that the management plugin requires. `monitoring` and `administrator` see every
%% virtual host, other users only their own.
-module(rabbit_queue_info_handler).
-export([init/2]).
-include_lib("rabbit_common/include/rabbit.hrl").

init(Req, State) ->
    Reply = case cowboy_req:method(Req) of
        <<"GET">> -> answer(Req);
        _ -> {405, #{<<"allow">> => <<"GET">>}, error_text(<<"only GET is served">>)}
    end,
    {Status, Headers, Body} = Reply,
    {ok, cowboy_req:reply(Status, Headers#{<<"content-type">> => <<"application/json">>}, Body, Req), State}.

answer(Req) ->
    case user(Req) of
        {ok, User} -> answer_to(User, cowboy_req:binding(vhost, Req, all), Req);
        unknown ->
            {401, #{<<"www-authenticate">> => <<"Basic realm=\"RabbitMQ queue info\"">>}, error_text(<<"not authorised">>)};
        untagged -> {403, #{}, error_text(<<"the user has none of the tags management, monitoring, administrator">>)}
    end.

answer_to(User, all, Req) ->
    case sees_all(User) of
        true -> {200, #{}, encode(rabbit_queue_info:list(all))};
        false ->
            Allowed = [VHost || VHost <- rabbit_vhost:list_names(), may_use(User, VHost, Req)],
            {200, #{}, encode(lists:append([rabbit_queue_info:list(VHost) || VHost <- Allowed]))}
    end;
answer_to(User, VHost, Req) ->
    case {rabbit_vhost:exists(VHost), sees_all(User) orelse may_use(User, VHost, Req)} of
        {true, true} -> {200, #{}, encode(rabbit_queue_info:list(VHost))};
        {false, true} -> {404, #{}, error_text(<<"no such virtual host">>)};
        {_, false} ->
            %% The answer is the same whether it exists or not, because the user may not know.
            {404, #{}, error_text(<<"no such virtual host">>)}
    end.

user(Req) ->
    try cowboy_req:parse_header(<<"authorization">>, Req) of
        {basic, Name, Password} ->
            {Address, _} = cowboy_req:peer(Req),
            case rabbit_access_control:check_user_login(Name, [{password, Password}]) of
                {ok, User} ->
                    case {rabbit_access_control:check_user_loopback(Name, Address), is_tagged(User)} of
                        {ok, true} -> {ok, User};
                        {ok, false} -> untagged;
                        _ -> unknown
                    end;
                _ -> unknown
            end;
        _ -> unknown
    catch _:_ -> unknown
    end.

is_tagged(#user{tags = Tags}) ->
    lists:any(fun(Tag) -> lists:member(Tag, [management, policymaker, monitoring, administrator]) end, Tags).

sees_all(#user{tags = Tags}) ->
    lists:member(monitoring, Tags) orelse lists:member(administrator, Tags).

may_use(User, VHost, Req) ->
    {Address, _} = cowboy_req:peer(Req),
    try rabbit_access_control:check_vhost_access(User, VHost, {ip, Address}, #{}) =:= ok
    catch _:_ -> false
    end.

%% ---- JSON, without a library: in thousands of equal objects only names need escapes. ----

encode(Rows) ->
    [$[, lists:join($,, [encode_row(Row) || Row <- Rows]), $]].

encode_row({Name, VHost, Type, Ready, Unacknowledged, Consumers}) ->
    [<<"{\"name\":">>, text(Name), <<",\"vhost\":">>, text(VHost), <<",\"type\":">>, text(Type),
        <<",\"ready\":">>, number(Ready), <<",\"unacknowledged\":">>, number(Unacknowledged),
        <<",\"consumers\":">>, number(Consumers), $}].

number(null) -> <<"null">>;
number(Value) -> integer_to_binary(Value).

text(Text) ->
    case is_plain(Text) of
        true -> [$", Text, $"];
        false -> [$", [escaped(Character) || Character <- characters(Text)], $"]
    end.

%% Nearly every name needs no escape.
is_plain(<<C, Rest/binary>>) when C >= 32, C < 127, C =/= $", C =/= $\\ -> is_plain(Rest);
is_plain(Rest) -> Rest =:= <<>>.

%% Names are bytes, nearly always UTF-8. Other names are read as Latin-1.
characters(Text) ->
    case unicode:characters_to_list(Text) of
        Characters when is_list(Characters) -> Characters;
        _ -> binary_to_list(Text)
    end.

escaped($") -> <<"\\\"">>;
escaped($\\) -> <<"\\\\">>;
escaped(Control) when Control < 32 -> io_lib:format("\\u~4.16.0b", [Control]);
escaped(Plain) when Plain < 128 -> Plain;
escaped(Other) -> <<Other/utf8>>.

error_text(Reason) ->
    [<<"{\"error\":">>, text(Reason), $}].
