-- Functions of texts, numbers, times, arrays and documents with arguments out of the ordinary.
SELECT regexp_match('foobarbequebaz', '(bar)(beque)'), regexp_match('abc', 'x'), regexp_matches('foobarbequebazilbarfbonk', '(b[^b]+)(b[^b]+)', 'g'), regexp_match('aBc', 'b', 'i');
SELECT regexp_replace('foobarbaz', 'b..', 'X'), regexp_replace('foobarbaz', 'b..', 'X', 'g'), regexp_replace('foobarbaz', 'b(..)', 'X\1Y', 'g'), regexp_replace('abc', '(a)(b)?(z)?', '[\1\2\3\&]'), regexp_replace('hello', 'l', '\\', 'g'), regexp_replace('abcabc', 'b', 'X', 1, 2), regexp_replace('abcabc', 'B', 'X', 2, 0, 'i'), regexp_replace('abc', '', '-', 'g'), regexp_replace('abc', '$', 'x'), regexp_replace('a.b', '.', 'x', 'q');
SELECT regexp_split_to_array('the quick  brown', '\s+'), regexp_split_to_array('abc', ''), regexp_split_to_array('', ','), regexp_split_to_table('a1b2c', '\d'), regexp_split_to_array('aXbxc', 'x', 'i');
SELECT regexp_count('ABCABCAXYaxy', 'A.', 1, 'i'), regexp_count('abc', ''), regexp_instr('ABCDEF', 'c(.)(..)', 1, 1, 0, 'i', 2), regexp_instr('abcabc', 'b', 1, 2), regexp_instr('abc', 'b', 1, 1, 1), regexp_like('Hello World', 'world$', 'i'), regexp_substr('ABCDEF', 'c(.)(..)', 1, 1, 'i', 2), regexp_substr('abcabd', 'ab.', 1, 2), regexp_substr('abc', 'x');
SELECT regexp_match('abc', '(');
SELECT regexp_match('abc', '[a');
SELECT regexp_match('abc', 'a{2,1}');
SELECT regexp_match('abc', '*');
SELECT regexp_replace('abc', 'b', 'x', 'z');
SELECT regexp_count('abc', 'b', 0);
SELECT regexp_instr('abc', 'b', 1, 0);
SELECT regexp_match('a\b', 'a\\b'), 'abc' ~ '^a.c$', 'ABC' ~* 'b', 'abc' !~ 'z', 'abc' !~* 'B', 'a' ~ '[[:alpha:]]', 'x1' ~ '\A\w\d\Z', 'foo bar' ~ '\mbar\M', 'aa' ~ '(a)\1', 'ab' ~ '(?i)AB', 'a
b' ~ 'a.b', 'a
b' ~ '(?n)a.b', 'abab' ~ '^(?:ab){2}$', 'é' ~ '\w', 'abc' ~ 'a(?=b)', 'abc' ~ 'a(?!b)', 'abc' ~ '(?<=a)b', 'aXb' ~ 'a\Xb';
SELECT 'abc' SIMILAR TO '(a|b)%', 'abc' SIMILAR TO 'a_c', 'abc' NOT SIMILAR TO 'b%', 'a%c' SIMILAR TO 'a\%c', 'abc' SIMILAR TO 'a[a-c]+', 'aab' SIMILAR TO 'a{2}b', substring('foobar' SIMILAR '%#"o_b#"%' ESCAPE '#'), substring('foobar' from 'o(.)b'), substring('foobar' from '%#"o_a#"_' for '#'), substring('foobar' from 'z');
SELECT 'abc' LIKE 'a%', 'abc' LIKE '_b_', 'a%c' LIKE 'a\%c', 'a_c' LIKE 'a#_c' ESCAPE '#', 'abc' ILIKE 'A%', 'abc' NOT LIKE 'b', 'abc' NOT ILIKE 'AB', 'abc' ~~ 'a%', 'abc' !~~ 'a%', 'ABC' ~~* 'a%', 'a\c' LIKE 'a\c' ESCAPE '', NULL LIKE 'a', '' LIKE '', '' LIKE '%';
SELECT 'abc' LIKE 'a\';
SELECT 'abc' LIKE 'a' ESCAPE 'xx';
SELECT format('%s %I %L', 'a', 'B c', 'd''e'), format('%2$s %1$s', 'a', 'b'), format('|%10s|%-10s|', 'x', 'y'), format('%%'), format('%s', NULL), format('%L', NULL), format('%*s', 5, 'a'), format('%-*s|', 5, 'a'), format('%1$*2$s', 'a', 4), format('%s', ARRAY[1,2]), format('%I', 'abc'), format('%s %s', 1, true);
SELECT format('%I', NULL);
SELECT format('%s');
SELECT format('%z', 1);
SELECT format('%0$s', 1);
SELECT format('%');
SELECT lpad('abc', 6, 'xy'), rpad('abc', 6, 'xy'), lpad('abc', 2), lpad('abc', 5, ''), lpad('a', -1), repeat('ab', 3), repeat('a', -1), reverse('abc'), initcap('hello wORLD-foo'), translate('12345', '143', 'ax'), ltrim('xxabc', 'x'), rtrim('abcxx', 'xc'), btrim('  a '), trim(both 'x' from 'xax'), trim(leading from '  a'), trim('xy' from 'xyaxy'), trim(trailing 'a' from 'baa');
SELECT substr('abcdef', 3), substr('abcdef', -1, 4), substr('abcdef', 2, 0), substring('abcdef' from 0 for 3), substring('abc' for 2), left('abc', -1), right('abc', -1), left('abc', 10), right('abc', 0), split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1), split_part('a,b', ',', 5), split_part('abc', '', 1), strpos('abc', 'c'), position('' in 'abc'), overlay('abcdef' placing 'XX' from 2 for 4), overlay('abc' placing 'X' from 10);
SELECT substr('abc', 1, -1);
SELECT split_part('a,b', ',', 0);
SELECT substring('abc' from 2 for -1);
SELECT repeat('x', 2000000000);
SELECT ascii('a'), ascii(''), ascii('é'), chr(233), chr(65), to_hex(255), to_hex(-1), md5('a'), length('é'), octet_length('é'), bit_length('a'), char_length('abc'), upper('é'), lower('ÀB'), concat('a', NULL, 1, true), concat_ws(',', 'a', NULL, 'b'), concat(), quote_ident('a b'), quote_literal('a''b'), quote_nullable(NULL), quote_literal(E'a\\b'), starts_with('abc', 'ab'), 'abc' ^@ 'ab', string_to_array('a,b,,c', ','), string_to_array('a,b,,c', ',', ''), string_to_array('abc', NULL), string_to_array('', ','), string_to_array('abc', ''), array_to_string(ARRAY[1,NULL,3], ','), array_to_string(ARRAY[1,NULL,3], ',', '*'), unistr('\0041\+000042'), normalize('é', NFD) = 'é', 'a' IS NORMALIZED, parse_ident('a."B c".d'), casefold('A');
SELECT chr(0);
SELECT chr(-1);
SELECT concat_ws(NULL, 'a'), unistr('\00'), 1;
SELECT unistr('\00');
SELECT parse_ident('a..b');
SELECT parse_ident('a b'), 1;
SELECT to_char(1234567.891, '9,999,999.99'), to_char(-12.3, '999.99'), to_char(12, '00099'), to_char(0.5, '0.99'), to_char(0.5, '9.99'), to_char(1234, 'FM9,999'), to_char(-5, 'MI9'), to_char(-5, '9PR'), to_char(5, 'S9'), to_char(12, 'RN'), to_char(1, '9th'), to_char(22, '99TH'), to_char(12345.678, '9.99EEEE'), to_char(1e10, '999'), to_char(12.5, 'L99.9'), to_char(0, '9'), to_char(123, 'FM000000'), to_char(3.14159, 'FM999.999'), to_char(12, '99V99'), to_char(1.5::float8, '9.9'), to_char(-0.1, '9.9'), to_char(1000, '9G999D99'), to_char(5, '"n="9'), to_char(-12, 'SG999'), to_char(12, '99SG'), to_char(-1234, '9999PL');
SELECT to_char(timestamp '2024-03-05 14:07:09.123456', 'YYYY-MM-DD HH24:MI:SS.US'), to_char(timestamp '2024-03-05 14:07:09.123456', 'Day, DD Month YYYY HH12:MI AM'), to_char(timestamp '2024-03-05', 'FMDay, FMDD FMMonth'), to_char(date '2024-03-05', 'DDD WW IW ID D J Q CC RM rm'), to_char(timestamp '2024-03-05 00:00', 'HH HH12 a.m. P.M. SSSS SSSSS MS FF3'), to_char(timestamptz '2024-03-05 10:00+00', 'TZ tz OF TZH:TZM'), to_char(date '2024-03-05', 'Dy DY dy Mon MON mon MONTH month'), to_char(date '2024-03-01', 'DDth DDTH FMDDth'), to_char(date '2024-03-05', 'Y,YYY YYY YY Y IYYY IYY I'), to_char(date '0044-03-15 BC', 'YYYY BC'), to_char(date '2024-03-05', '"Year:" YYYY \"'), to_char(timestamp '2024-03-05 14:07:09', 'TMDay TMMonth'), to_char(date '2024-12-30', 'IYYY-IW-ID');
SELECT to_date('05 Dec 2000', 'DD Mon YYYY'), to_date('2024-065', 'YYYY-DDD'), to_date('20240305', 'YYYYMMDD'), to_date('24-3-5', 'YY-MM-DD'), to_timestamp('2024-03-05 14:07:09', 'YYYY-MM-DD HH24:MI:SS'), to_timestamp('2024-03-05 02:07 PM', 'YYYY-MM-DD HH12:MI AM'), to_timestamp(1709647629.5), to_number('1,234.56', '9,999.99'), to_number('-12.3-', '99.9S'), to_number('$12', 'L99'), to_date('2024-W10-2', 'IYYY-"W"IW-ID'), to_number('12abc', '99');
SELECT to_date('2024-13-01', 'YYYY-MM-DD');
SELECT to_date('abc', 'YYYY');
SELECT to_date('2024-02-30', 'YYYY-MM-DD');
SELECT to_timestamp('25:00', 'HH24:MI');
SELECT to_number('abc', '999');
SELECT to_timestamp('2024', 'YYYY HH12 HH24 IYYY');
SELECT to_timestamp('infinity'::float8), to_timestamp('nan'::float8);
SELECT jsonb_path_query('{"a":[1,2,3]}', '$.a[*] ? (@ > 1)'), jsonb_path_exists('{"a":1}', '$.a'), jsonb_path_match('{"a":1}', '$.a == 1'), jsonb_path_query_array('{"a":[1,2]}', '$.a.size()'), jsonb_path_query_first('[1,2]', '$[last]'), '{"a":1}'::jsonb @? '$.a', '{"a":1}'::jsonb @@ '$.a > 0', jsonb_path_query_array('[{"x":1},{"x":2}]', '$[*].x ? (@ >= $m)', '{"m":2}'), jsonb_path_query('"abc"', '$ ? (@ like_regex "^A" flag "i")'), jsonb_path_query_array('[1,"a",null,true]', '$[*].type()'), jsonb_path_query('{"a":{"b":1}}', '$.**.b'), jsonb_path_query('2', '$ * 3 + 1'), jsonb_path_query('"2024-01-01"', '$.datetime()'), jsonb_path_query_array('{"a":1,"b":2}', '$.keyvalue().key'), jsonb_path_query('-1.5', '$.abs().ceiling()');
SELECT jsonb_path_query('{"a":1}', '$.b ?');
SELECT jsonb_path_query('{"a":1}', 'strict $.b');
SELECT jsonb_path_query('[1]', '$ ? (@.a');
SELECT '$.a'::jsonpath, '$."a b"[0 to 2]'::jsonpath, 'strict $.a ? (@.b > 1 && exists(@.c))'::jsonpath, '$.a + 1'::jsonpath;
SELECT json_build_object('a', 1, 'b', NULL, 'c', ARRAY[1,2], 'd', now() IS NULL), json_build_array(1, 'a', NULL, json '{}'), json_object('{a,1,b,2}'), json_object('{a,b}', '{1,2}'), jsonb_object('{{a,1},{b,2}}'), to_json('a"b'::text), to_jsonb(1.50), row_to_json(ROW(1, 'a')), row_to_json(ROW(1, 'a'), true), array_to_json(ARRAY[[1,2],[3,4]]), array_to_json(ARRAY[1,2], true), to_json(timestamp '2024-01-01 10:00'), to_json(date 'infinity'), to_json('nan'::float8), to_jsonb(ARRAY['a', NULL]);
SELECT json_build_object('a');
SELECT json_build_object(NULL, 1);
SELECT json_build_object(ARRAY[1], 1);
SELECT json_object('{a,b,c}');
SELECT jsonb_set('{"a":[1,2]}', '{a,0}', '9'), jsonb_set('{"a":1}', '{b}', '2', false), jsonb_insert('{"a":[1,2]}', '{a,1}', '9'), jsonb_insert('{"a":[1,2]}', '{a,1}', '9', true), jsonb_set_lax('{"a":1}', '{a}', NULL, true, 'delete_key'), '{"a":1,"b":2}'::jsonb - 'a', '[1,2,3]'::jsonb - 1, '[1,2]'::jsonb - -1, '{"a":{"b":1}}'::jsonb #- '{a,b}', '{"a":1}'::jsonb || '{"b":2}', '[1]'::jsonb || '2', '{"a":1}'::jsonb || '[1]', jsonb_strip_nulls('{"a":null,"b":[null]}'), jsonb_pretty('{"a":[1,{"b":2}]}'), '{"a":1,"b":2}'::jsonb - ARRAY['a', 'b'];
SELECT jsonb_insert('{"a":1}', '{a}', '2');
SELECT jsonb_set('[1]', '{x}', '2');
SELECT '"a"'::jsonb - 'a';
SELECT '{"a":1}'::jsonb - 1;
SELECT '{"a":{"b":[10,20]}}'::json -> 'a' -> 'b' -> 1, '{"a":{"b":[10,20]}}'::json #> '{a,b,-1}', '{"a":"x"}'::json ->> 'a', '[1,2]'::json -> -1, '[1,2]'::jsonb ->> 5, '{"a":null}'::jsonb ->> 'a', '{"a":null}'::jsonb -> 'a', '{"a":1}'::jsonb ? 'a', '["a"]'::jsonb ? 'a', '{"a":1}'::jsonb ?& ARRAY['a','b'], '{"a":1,"b":2}'::jsonb @> '{"a":1}', '[1,[2]]'::jsonb @> '[[2]]', jsonb_array_length('[1,2]'), jsonb_typeof('null'), json_typeof('1.5'), ('{"a":[1,2]}'::jsonb)['a'][1], ('{"a":1}'::jsonb)['b'];
SELECT jsonb_array_length('{}');
SELECT json_array_length('1');
\sorted
SELECT * FROM json_each('{"a":1,"b":"x"}'), jsonb_each_text('{"c":null,"d":[1]}') t;
\sorted
SELECT * FROM json_array_elements('[1,"a",null]') WITH ORDINALITY, jsonb_object_keys('{"b":1,"a":2}') k;
\sorted
SELECT * FROM json_to_record('{"a":1,"b":[1,2],"c":{"x":1}}') AS x(a int, b int[], c json, d text);
\sorted
SELECT * FROM jsonb_to_recordset('[{"a":1,"b":"x"},{"a":"2"}]') AS x(a int, b text);
\sorted
SELECT * FROM jsonb_to_recordset('{"a":1}') AS x(a int);
\sorted
SELECT * FROM json_to_record('[1]') AS x(a int);
\sorted
SELECT * FROM json_to_record('{"a":"x"}') AS x(a int);
SELECT jsonb_array_elements('{"a":1}');
SELECT jsonb_each('[1]');
SELECT jsonb_object_agg(k, v), json_object_agg(k, v), jsonb_agg(v ORDER BY k DESC), json_agg(v) FILTER (WHERE v > 1), json_agg(k) FROM (VALUES ('a', 1), ('b', 2)) t(k, v);
SELECT jsonb_object_agg(NULL, 1);
SELECT count(*) FILTER (WHERE x > 2), sum(x) FILTER (WHERE x > 100), avg(x), string_agg(x::text, ',' ORDER BY x DESC), array_agg(x ORDER BY x), bool_and(x > 0), bool_or(x > 2), every(x > 1), bit_and(x), bit_or(x), bit_xor(x), stddev(x), variance(x), var_pop(x), stddev_pop(x), min(x), max(x), count(DISTINCT x % 2), sum(DISTINCT x % 2), mode() WITHIN GROUP (ORDER BY x % 2), percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_disc(0.5) WITHIN GROUP (ORDER BY x), percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY x), rank(2) WITHIN GROUP (ORDER BY x), dense_rank(2) WITHIN GROUP (ORDER BY x DESC), percent_rank(3) WITHIN GROUP (ORDER BY x), cume_dist(3) WITHIN GROUP (ORDER BY x) FROM generate_series(1, 4) x;
\sorted
SELECT corr(y, x), covar_pop(y, x), covar_samp(y, x), regr_slope(y, x), regr_intercept(y, x), regr_r2(y, x), regr_count(y, x), regr_avgx(y, x), regr_avgy(y, x), regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x) FROM (VALUES (1, 2), (2, 4.5), (3, 5)) t(x, y);
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY x) FROM generate_series(1, 4) x;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY 'a'::text);
\sorted
SELECT percentile_cont(0.5) FROM generate_series(1, 4) x;
SELECT sum(x) WITHIN GROUP (ORDER BY x) FROM generate_series(1, 4) x;
SELECT rank(1, 2) WITHIN GROUP (ORDER BY x) FROM generate_series(1, 4) x;
\sorted
SELECT count(DISTINCT x) OVER () FROM generate_series(1, 4) x;
\sorted
SELECT row_number() FILTER (WHERE true) OVER () FROM generate_series(1, 4) x;
SELECT lower('a') FILTER (WHERE true);
SELECT lower(DISTINCT 'a');
SELECT lower('a' ORDER BY 1);
SELECT row_number();
SELECT string_agg(DISTINCT x::text, ',' ORDER BY x) FROM generate_series(1, 4) x;
SELECT sum('a'), avg('b'::text);
SELECT min(ARRAY[1]), max(true);
\sorted
SELECT max(x), min(y) FROM (VALUES (interval '1 d', time '10:00'), ('2 d', '09:00')) v(x, y);
SELECT any_value(1);
\sorted
SELECT array_agg(a), array_agg(b) FROM (VALUES (ARRAY[1,2], 'x'), (ARRAY[3,4], NULL)) v(a, b);
\sorted
SELECT array_agg(a) FROM (VALUES (ARRAY[1,2]), (ARRAY[3])) v(a);
SELECT array_length(ARRAY[[1,2],[3,4]], 2), array_dims(ARRAY[[1,2]]), array_upper(ARRAY[1,2], 1), array_lower(ARRAY[1], 1), cardinality(ARRAY[[1,2],[3,4]]), array_ndims(ARRAY[[1]]), array_length('{}'::int[], 1), array_append(ARRAY[1], 2), array_prepend(0, ARRAY[1]), array_cat(ARRAY[1], ARRAY[2]), array_remove(ARRAY[1,2,1], 1), array_replace(ARRAY[1,2,1], 1, 9), array_position(ARRAY['a','b'], 'b'), array_position(ARRAY[1,2,1], 1, 2), array_positions(ARRAY[1,2,1], 1), array_fill(7, ARRAY[2,2]), array_fill(0, ARRAY[0]), trim_array(ARRAY[1,2,3], 2), unnest(ARRAY[1,2]), generate_subscripts(ARRAY['a','b'], 1), array_to_string('{}'::int[], ','), array_fill(7, ARRAY[2]) || 1;
SELECT trim_array(ARRAY[1], 5);
SELECT array_cat(ARRAY[1], ARRAY[[1,2]]), ARRAY[[1,2]] || ARRAY[[3]];
SELECT array_remove(ARRAY[[1]], 1);
SELECT array_position(ARRAY[[1]], 1);
\sorted
SELECT * FROM unnest(ARRAY[1,2], ARRAY['a','b','c']) WITH ORDINALITY AS t(a, b, n);
SELECT width_bucket(5.35, 0.024, 10.06, 5), width_bucket(5, ARRAY[1,3,6]), gcd(12, 18), lcm(4, 6), factorial(5), random() < 1, setseed(0.5), degrees(pi()), radians(180), sin(0), atan2(1, 1), sind(30), cosd(60), tand(45), acosd(0.5), sinh(0), asinh(0), log10(100), mod(-7, 3), -7 / 2, 7::float8 / 2, 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 16 >> 2, |/ 9, ||/ 27, @ -5, 2 ^ 3, 5!;
SELECT factorial(-1);
SELECT factorial(20), factorial(0), width_bucket(0, 0, 10, 0);
SELECT acos(2);
SELECT exp(1000);
SELECT power(0, -1);
SELECT 1 << 33, 1::bigint << 33, -1 >> 1, 32767::smallint + 1::smallint;
SELECT 2147483647 + 1;
SELECT abs(-2147483648::int);
SELECT -(-2147483648)::int;
SELECT (-2147483648)::int / -1, 1;
SELECT (-2147483648)::int % -1, 5 % 0;
SELECT greatest(1, NULL, 3), least('b', 'a'), greatest(NULL, NULL), coalesce(NULL, 1), nullif(1, 1), num_nulls(1, NULL), num_nonnulls(1, NULL), CASE WHEN NULL THEN 1 ELSE 2 END, CASE 1 WHEN 1 THEN 'a' END, coalesce(), 1;
SELECT coalesce(1, 'a');
SELECT greatest(1, 'a');
SELECT CASE 1 WHEN 'a' THEN 1 END;
SELECT CASE WHEN 1 THEN 1 END;
SELECT CASE WHEN true THEN 1 ELSE 'a' END;
SELECT CASE WHEN true THEN 1 ELSE now() END;
SELECT age(timestamp '2024-03-01', timestamp '2023-01-31'), age(date '2000-02-29', date '1999-03-01'), date_part('year', date '2024-03-05'), date_trunc('quarter', timestamp '2024-05-05 10:00'), date_trunc('week', date '2024-03-05'), date_trunc('day', timestamptz '2024-03-05 10:00+00', 'Asia/Tokyo'), date_bin('15 minutes', timestamp '2024-03-05 10:17', timestamp '2024-01-01'), make_date(2024, 2, 29), make_time(10, 20, 30.5), make_timestamp(2024, 1, 2, 3, 4, 5.5), make_timestamptz(2024, 1, 2, 3, 4, 5, 'Europe/Berlin'), extract(isodow from date '2024-03-03'), extract(week from date '2021-01-01'), extract(isoyear from date '2021-01-01'), extract(century from date '2001-01-01'), extract(decade from date '1999-01-01'), extract(julian from date '2024-01-01'), extract(timezone from timestamptz '2024-01-01 00:00+00'), extract(microseconds from time '10:00:01.5'), extract(epoch from timestamp '2024-01-01'), isfinite(now());
SELECT date_trunc('nosuch', now());
SELECT extract(nosuch from now());
SELECT extract(hour from date '2024-01-01');
SELECT make_date(2024, 2, 30);
SELECT make_time(25, 0, 0);
SELECT date_bin('1 month', now(), now());
SELECT date_trunc('day', time '10:00');
SELECT extract(year from time '10:00');
\sorted
SELECT * FROM generate_series(1, 3, 0);
SELECT generate_series(1, 3), generate_series(1, 2);
SELECT similar_escape('a%', NULL), 'a' || 1, 1 || 'a', 'a' || NULL, 1 || 2;
SELECT string_to_table('a,b', ','), regexp_split_to_table('a b', ' ');
SELECT regexp_match('a\b', 'a\\b'), 'abc' ~ '^a.c$', 'ABC' ~* 'b', 'abc' !~ 'z', 'abc' !~* 'B', 'a' ~ '[[:alpha:]]', 'x1' ~ '\A\w\d\Z', 'foo bar' ~ '\mbar\M', 'aa' ~ '(a)\1', 'ab' ~ '(?i)AB', 'abab' ~ '^(?:ab){2}$', 'é' ~ '\w', 'abc' ~ 'a(?=b)', 'abc' ~ 'a(?!b)', 'abc' ~ '(?<=a)b';
SELECT 'aXb' ~ 'a\Xb';
SELECT 'a' ~ '[[:nosuch:]]';
SELECT 'a' ~ '[b-a]';
SELECT 'a' ~ 'a{300}';
SELECT 'a' ~ '\';
SELECT 'a' ~ ')';
SELECT 'a' ~ '(?z)a';
SELECT '12-34' ~ '^\d{2}-\d{2}$', 'a1' ~ '^[^\d]+$', 'tab	x' ~ '\t', 'x' ~ '\x78', 'x' ~ '\u0078', 'ab' ~ 'a|b|', '' ~ '^$', 'a.b' ~ 'a\.b', 'a]b' ~ '[]]', 'a-b' ~ '[a\-z]';
SELECT ascii('a'), ascii(''), ascii('é'), chr(233), chr(65), to_hex(255), to_hex(-1), md5('a'), length('é'), octet_length('é'), bit_length('a'), char_length('abc'), upper('é'), lower('ÀB'), concat('a', NULL, 1, true), concat_ws(',', 'a', NULL, 'b'), quote_ident('a b'), quote_literal('a''b'), quote_nullable(NULL), quote_literal(E'a\\b'), starts_with('abc', 'ab'), 'abc' ^@ 'ab';
SELECT string_to_array('a,b,,c', ','), string_to_array('a,b,,c', ',', ''), string_to_array('abc', NULL), string_to_array('', ','), string_to_array('abc', ''), array_to_string(ARRAY[1,NULL,3], ','), array_to_string(ARRAY[1,NULL,3], ',', '*'), unistr('\0041\+000042'), 'a' IS NORMALIZED, parse_ident('a."B c".d'), string_to_array(NULL, ','), string_to_array('a', 'a');
SELECT concat();
SELECT concat_ws();
SELECT concat_ws(','), concat(NULL), concat_ws(NULL, 'a');
SELECT split_part('a,b,c', ',', 2), split_part('a,b,c', ',', -1), split_part('a,b', ',', 5), split_part('', ',', 1), split_part('abc', '', 1), strpos('abc', 'c'), strpos('', ''), position('' in 'abc'), overlay('abcdef' placing 'XX' from 2 for 4), overlay('abc' placing 'X' from 10), substr('abcdef', -1, 4), substring('abcdef', 0), left('abc', -5), right('abc', 5);
SELECT to_char(1234567.891, '9,999,999.99'), to_char(-12.3, '999.99'), to_char(12, '00099'), to_char(0.5, '0.99'), to_char(0.5, '9.99'), to_char(1234, 'FM9,999'), to_char(-5, 'MI9'), to_char(-5, '9PR'), to_char(5, 'S9'), to_char(12, 'RN'), to_char(1, '9th'), to_char(22, '99TH'), to_char(12345.678, '9.99EEEE'), to_char(1e10, '999'), to_char(12.5, 'L99.9');
SELECT to_char(0, '9'), to_char(123, 'FM000000'), to_char(3.14159, 'FM999.999'), to_char(12, '99V99'), to_char(1.5::float8, '9.9'), to_char(-0.1, '9.9'), to_char(1000, '9G999D99'), to_char(5, '"n="9'), to_char(-12, 'SG999'), to_char(12, '99SG'), to_char(-1234, '9999PL'), to_char(1234.5, '999,999.000'), to_char(NULL::int, '9'), to_char('NaN'::numeric, '9.9'), to_char('Infinity'::float8, '999');
SELECT to_char(12, ''), to_char(0.1, '.9'), to_char(100, 'B999'), to_char(0, 'B9'), to_char(-7, '0S'), to_char(5000, 'RN'), to_char(12.345, '99.9999FM'), to_char(1.0, 'FM9.'), to_char(1, 'FM9.0'), to_char(12::bigint, '999'), to_char(12::real, '999.9');
SELECT to_char(1, '9S9S');
SELECT to_char(timestamp '2024-03-05 14:07:09.123456', 'YYYY-MM-DD HH24:MI:SS.US'), to_char(timestamp '2024-03-05 14:07:09.123456', 'Day, DD Month YYYY HH12:MI AM'), to_char(timestamp '2024-03-05', 'FMDay, FMDD FMMonth'), to_char(date '2024-03-05', 'DDD WW IW ID D J Q CC RM rm'), to_char(timestamp '2024-03-05 00:00', 'HH HH12 a.m. P.M. SSSS SSSSS MS FF3');
SELECT to_char(timestamptz '2024-03-05 10:00+00', 'TZ tz OF TZH:TZM'), to_char(date '2024-03-05', 'Dy DY dy Mon MON mon MONTH month'), to_char(date '2024-03-01', 'DDth DDTH FMDDth'), to_char(date '2024-03-05', 'Y,YYY YYY YY Y IYYY IYY I'), to_char(date '0044-03-15 BC', 'YYYY BC'), to_char(date '2024-03-05', '"Year:" YYYY \"'), to_char(timestamp '2024-03-05 14:07:09', 'TMDay TMMonth'), to_char(date '2024-12-30', 'IYYY-IW-ID'), to_char(timestamp '2024-01-01 13:05', 'FMHH12:FMMI pm');
SELECT to_date('05 Dec 2000', 'DD Mon YYYY'), to_date('2024-065', 'YYYY-DDD'), to_date('20240305', 'YYYYMMDD'), to_date('24-3-5', 'YY-MM-DD'), to_timestamp('2024-03-05 14:07:09', 'YYYY-MM-DD HH24:MI:SS'), to_timestamp('2024-03-05 02:07 PM', 'YYYY-MM-DD HH12:MI AM'), to_timestamp(1709647629.5), to_number('1,234.56', '9,999.99'), to_number('$12', 'L99'), to_number('12abc', '99'), to_number('-12', 'S99'), to_number('12-', '99MI'), to_number('<12>', '99PR'), to_number('1.5e', '9.9');
SELECT to_date('2024-W10-2', 'IYYY-"W"IW-ID');
SELECT to_date('2024 Marchx 5', 'YYYY Month DD');
SELECT to_date('2024-3', 'YYYY-Q');
SELECT to_timestamp('12:30:15.123456', 'HH24:MI:SS.US') IS NOT NULL, to_date('', 'YYYY'), to_date('1', 'Y'), to_date('99', 'YY'), to_date('2024', 'YYYY'), to_date('12/2024', 'MM/YYYY'), to_timestamp('2024-01-01 00:00:00 +02:30', 'YYYY-MM-DD HH24:MI:SS TZH:TZM');
SELECT json_build_object('a', 1, 'b', NULL, 'c', ARRAY[1,2], 'd', true), json_build_array(1, 'a', NULL, json '{}'), json_object('{a,1,b,2}'), json_object('{a,b}', '{1,2}'), jsonb_object('{{a,1},{b,2}}'), to_json('a"b'::text), to_jsonb(1.50), row_to_json(ROW(1, 'a')), row_to_json(ROW(1, 'a'), true), array_to_json(ARRAY[[1,2],[3,4]]), array_to_json(ARRAY[1,2], true), to_json(timestamp '2024-01-01 10:00'), to_json(date 'infinity'), to_json('nan'::float8), to_jsonb(ARRAY['a', NULL]);
SELECT jsonb_set('{"a":[1,2]}', '{a,0}', '9'), jsonb_set('{"a":1}', '{b}', '2', false), jsonb_insert('{"a":[1,2]}', '{a,1}', '9'), jsonb_insert('{"a":[1,2]}', '{a,1}', '9', true), jsonb_set_lax('{"a":1}', '{a}', NULL, true, 'delete_key'), '{"a":1,"b":2}'::jsonb - 'a', '[1,2,3]'::jsonb - 1, '[1,2]'::jsonb - -1, '{"a":{"b":1}}'::jsonb #- '{a,b}', '{"a":1}'::jsonb || '{"b":2}', '[1]'::jsonb || '2', '{"a":1}'::jsonb || '[1]', jsonb_strip_nulls('{"a":null,"b":[null]}'), jsonb_pretty('{"a":[1,{"b":2}]}'), '{"a":1,"b":2}'::jsonb - ARRAY['a', 'b'];
SELECT jsonb_set('{"a":[1]}', '{a,5}', '9'), jsonb_set('{"a":[1]}', '{a,-5}', '9'), jsonb_set('[]', '{0}', '1'), jsonb_set_lax('{"a":1}', '{a}', NULL), jsonb_set_lax('{"a":1}', '{a}', NULL, true, 'return_target'), jsonb_set('{"a":1}', '{}', '2'), jsonb_set(NULL, '{a}', '1'), jsonb_insert('[1,2]', '{-1}', '9'), jsonb_insert('{}', '{x}', '1');
SELECT jsonb_set_lax('{"a":1}', '{a}', NULL, true, 'raise_exception');
SELECT jsonb_set_lax('{"a":1}', '{a}', NULL, true, 'nosuch');
SELECT count(*) FILTER (WHERE x > 2), sum(x) FILTER (WHERE x > 100), avg(x), string_agg(x::text, ',' ORDER BY x DESC), array_agg(x ORDER BY x), bool_and(x > 0), bool_or(x > 2), every(x > 1), bit_and(x), bit_or(x), bit_xor(x), stddev(x), variance(x), var_pop(x), stddev_pop(x), min(x), max(x), count(DISTINCT x % 2), sum(DISTINCT x % 2), mode() WITHIN GROUP (ORDER BY x % 2) FROM generate_series(1, 4) x;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x), percentile_disc(0.5) WITHIN GROUP (ORDER BY x), percentile_cont(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY x), rank(2) WITHIN GROUP (ORDER BY x), dense_rank(2) WITHIN GROUP (ORDER BY x DESC), percent_rank(3) WITHIN GROUP (ORDER BY x), cume_dist(3) WITHIN GROUP (ORDER BY x), percentile_disc(ARRAY[0, NULL, 1]) WITHIN GROUP (ORDER BY x), percentile_cont(NULL) WITHIN GROUP (ORDER BY x), percentile_cont(0.3) WITHIN GROUP (ORDER BY x * interval '1 day') FROM generate_series(1, 4) x;
SELECT array_length(ARRAY[[1,2],[3,4]], 2), array_dims(ARRAY[[1,2]]), array_upper(ARRAY[1,2], 1), array_lower(ARRAY[1], 1), cardinality(ARRAY[[1,2],[3,4]]), array_ndims(ARRAY[[1]]), array_length('{}'::int[], 1), array_append(ARRAY[1], 2), array_prepend(0, ARRAY[1]), array_cat(ARRAY[1], ARRAY[2]), array_remove(ARRAY[1,2,1], 1), array_replace(ARRAY[1,2,1], 1, 9), array_position(ARRAY['a','b'], 'b'), array_position(ARRAY[1,2,1], 1, 2), array_positions(ARRAY[1,2,1], 1), array_fill(7, ARRAY[2,2]), array_fill(0, ARRAY[0]), trim_array(ARRAY[1,2,3], 2), array_to_string('{}'::int[], ',');
SELECT width_bucket(5.35, 0.024, 10.06, 5), width_bucket(5, ARRAY[1,3,6]), gcd(12, 18), lcm(4, 6), factorial(5), degrees(pi()), radians(180), sin(0), atan2(1, 1), sind(30), cosd(60), tand(45), acosd(0.5), sinh(0), asinh(0), log10(100), mod(-7, 3), -7 / 2, 7::float8 / 2, 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 16 >> 2, |/ 9, ||/ 27, @ -5, 2 ^ 3;
SELECT 5!;
SELECT greatest(1, NULL, 3), least('b', 'a'), greatest(NULL, NULL), coalesce(NULL, 1), nullif(1, 1), num_nulls(1, NULL), num_nonnulls(1, NULL), CASE WHEN NULL THEN 1 ELSE 2 END, CASE 1 WHEN 1 THEN 'a' END;
SELECT coalesce();
SELECT greatest();
SELECT nullif(1);
SELECT nullif(1, 'x');
SELECT age(timestamp '2024-03-01', timestamp '2023-01-31'), age(date '2000-02-29', date '1999-03-01'), date_part('year', date '2024-03-05'), date_trunc('quarter', timestamp '2024-05-05 10:00'), date_trunc('week', date '2024-03-05'), date_trunc('day', timestamptz '2024-03-05 10:00+00', 'Asia/Tokyo'), date_bin('15 minutes', timestamp '2024-03-05 10:17', timestamp '2024-01-01'), make_date(2024, 2, 29), make_time(10, 20, 30.5), make_timestamp(2024, 1, 2, 3, 4, 5.5), make_timestamptz(2024, 1, 2, 3, 4, 5, 'Europe/Berlin');
SELECT extract(isodow from date '2024-03-03'), extract(week from date '2021-01-01'), extract(isoyear from date '2021-01-01'), extract(century from date '2001-01-01'), extract(decade from date '1999-01-01'), extract(julian from date '2024-01-01'), extract(timezone from timestamptz '2024-01-01 00:00+00'), extract(microseconds from time '10:00:01.5'), extract(epoch from timestamp '2024-01-01'), extract(milliseconds from timestamp '2024-01-01 00:00:01.5'), extract(second from interval '1.5 s'), extract(doy from date '2024-12-31');
SELECT isfinite(now()), extract(year from date 'infinity'), extract(epoch from timestamptz '-infinity'), extract(month from timestamp 'infinity'), date_trunc('day', timestamp 'infinity'), age(timestamp '2024-01-01', timestamp '2024-03-31'), age(timestamp '2024-01-01 10:00', timestamp '2024-01-02 09:00');
SELECT pg_size_bytes('1 XB');
SELECT convert_from('\xff', 'UTF8');
SELECT convert_to('a', 'nosuch');
SELECT sum('a');
SELECT min(ARRAY[1]), max('b'::text), min(true::int), max(now()) IS NOT NULL;
SELECT max(true);
SELECT array_agg(x), array_agg(DISTINCT x ORDER BY x DESC), string_agg(x::text, '' ORDER BY x), sum(x), avg(x::numeric), count(x) FROM (VALUES (3), (1), (NULL), (3)) v(x);
\sorted
SELECT string_agg(NULL::text, ','), array_agg(NULL::int), sum(NULL::int), json_agg(NULL::int), count(NULL), bool_and(NULL) FROM generate_series(1, 2);
\sorted
SELECT sum(x), avg(x), min(x), max(x), stddev(x) FROM (VALUES (1e308::float8), (1e308), (-1e308)) v(x);
\sorted
SELECT sum(x) FROM (VALUES (9223372036854775807), (1::bigint)) v(x);
\sorted
SELECT sum(x), avg(x) FROM (VALUES (interval '1 day'), (interval '2 h'), (NULL)) v(x);
\sorted
SELECT sum(x), avg(x), sum(x::real) FROM (VALUES (0.1::float8), (0.2), (0.3)) v(x);
\sorted
SELECT sum(x) FROM (VALUES (time '10:00'), (time '11:00')) v(x);
\sorted
SELECT sum(x) FROM (VALUES ('NaN'::numeric), (1)) v(x);
\sorted
SELECT avg(x), sum(x), variance(x) FROM (VALUES (1::smallint), (2::smallint)) v(x);
SELECT random() BETWEEN 0 AND 1, random() <> random();
SELECT substring('abc' from '(b)(c)'), substring('abc' similar 'a#"_#"c' escape '#'), trim(both from '  x '), trim('x', 'x'), btrim('xyx', 'xy'), ltrim('zzzytest', 'xyz'), rtrim('testxxzx', 'xyz');
SELECT format('%1$s %1$s %s', 'a', 'b'), format('%-5s|%5s|', 'é', 'ab'), format('%s', '{1,2}'::int[]), format('%L', ARRAY['a b']), format(NULL), format('%s%%', 5), format('%3$s', 1, 2, 3);
SELECT format('%4$s', 1);
SELECT format('%1s %2');
SELECT lpad('hi', 5), rpad('hi', 5) || '|', lpad('hello', 2), repeat('', 5), repeat(NULL, 2), reverse(''), initcap('éA b1c d_e'), translate('abc', '', 'x'), translate('abc', 'abc', ''), replace('aaa', 'a', 'bb'), replace('abc', '', 'x'), replace('abc', 'b', NULL);
SELECT encode(sha224('a'), 'hex'), encode(sha512('a'), 'hex') IS NOT NULL, sha384('a') IS NOT NULL, md5(''), crc32('a');
