"""What counts as a literal, and when a passage holds it."""

from __future__ import annotations

from datetime import date

import pytest
from answering import passage

from graph.blocks import Block, Kind, blocks
from graph.evidence import Evidence, unsupported
from graph.literals import Claim, literals


def found(text: str) -> set[str]:
    return {item.text for block in blocks(text) for item in literals(block)}


def holds(source: str, said: str, question: str = "", today: date | None = None) -> bool:
    evidence = Evidence.of([passage(source)], question, today)
    claims = [item for block in blocks(said) for item in literals(block)]
    assert claims, f"nothing to check in {said!r}"
    return not unsupported(claims, evidence)


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("Run `kubectl get pods -n shop`.", "kubectl get pods -n shop"),
        ("Run kubectl delete pod web and wait.", "kubectl delete pod web"),
        ("```\n$ systemctl restart nginx\n```", "systemctl restart nginx"),
        ("See https://wiki.example/x.", "https://wiki.example/x"),
        ("Call ops@shop.example now", "ops@shop.example"),
        ("It is pg-prod-1 there", "pg-prod-1"),
        ("It is db.shop.example there", "db.shop.example"),
        ("At 10.1.2.3:5432 it listens", "10.1.2.3:5432"),
        ("Edit /etc/app/main.yml first", "/etc/app/main.yml"),
        ("Add --force to it", "--force"),
        ("Wait **30** seconds", "30 seconds"),
        ("Подождите 30 секунд", "30 секунд"),
        ("Since v1.34.1 it works", "1.34.1"),
        ("On 3 апреля it stops", "3 апреля"),
        ("At 22:00 МСК it stops", "22:00 МСК"),
    ],
)
def test_reads_every_kind_of_literal(text: str, literal: str) -> None:
    assert literal in found(text)


def test_a_number_of_any_length_is_read() -> None:
    digits = "7" * 10_000
    assert holds(f"dump {digits}", f"dump {digits}")
    assert not holds("dump 7", f"dump {digits}")


@pytest.mark.parametrize(
    "text",
    [
        "1. Open the console.\n2. Close it.",
        "Statement [1][2].",
        "Do step 3 and then шаг 4.",
        "## 2. Mitigation",
        "This and/or that, e.g. here, i.e. there.",
        "K8s and S3 are fine.",
    ],
)
def test_ordinals_marks_and_common_names_claim_nothing(text: str) -> None:
    assert found(text) == set()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("keeps 10,000 rows", "10 000 rows"),
        ("keeps 10 000 rows", "10,000 rows"),
        ("wait 0,5 секунды", "0.5 s"),
        ("at 95 %", "at 95%"),
        ("at 95 percent", "at 95%"),
        ("for: 15m", "15 minutes"),
        ("wait three minutes", "3 minutes"),
        ("between 5 and 10 minutes", "10 minutes"),
        ("5-10 minutes", "5 minutes"),
        ("release v1.34.1", "1.34.1"),
        ("the 99th percentile of it", "the p99 of it"),
        ("window 04/03/2025 7 PM UTC", "19:00 UTC"),
        ("window 22:00 МСК", "19:00 UTC"),
        ("работы 03.04.2025", "3 April"),
        ("run “kubectl   get pods” first", "`kubectl get pods`"),
        ("the `scrape_pool` label", "scrape\\_pool"),
    ],
)
def test_the_same_value_in_another_notation_is_supported(source: str, said: str) -> None:
    assert holds(source, said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("keeps 10,000 rows", "10 rows"),
        ("wait 30 minutes", "wait 30 seconds"),
        ("release 1.34.1", "release 1.34"),
        ("window 22:00 МСК", "22:00 UTC"),
        ("работы 03.04.2025", "5 April"),
        ("port 8443 on pg-prod-1", "port 8443 on pg-prod-2"),
        ("p99 is fine", "99 hours"),
        ("`kubectl get pods`", "`kubectl get pod`"),
        ("`kubectl get pods`", "`Kubectl get pods`"),
        ("https://wiki.example/a/b", "https://wiki.example/a"),
        ("edit /etc/app/main.yml", "edit /etc/app/main"),
        ("at 10.1.2.3", "at 10.1.2.30"),
    ],
)
def test_a_near_miss_is_not_supported(source: str, said: str) -> None:
    assert not holds(source, said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Keep 10 000 rows.", "Keep 10 [1]."),
        ("Keep 10 000 rows.", "000 rows [1]."),
        ("Wait 1.5 hours.", "Wait 1. [1]"),
        ("See https://wiki.example/a/b?c=1 first.", "See https://wiki.example/a/b [1]."),
        ("Run `kubectl get pods -A` twice.", "Run `kubectl get pods` [1]."),
        ("Restart the api-gateway now.", "Restart the api [1]."),
        ("Restart api.service now.", "Restart api."),
        ("Restart the API.", "Restart the api."),
        ("Restart the API.", " [1]"),
        ("Clean with rm -rf /var/lib/app/tmp now.", "Clean with rm -rf /var/lib/app [1]."),
        ("Run kubectl drain node-1 --ignore-daemonsets now.", "Run kubectl drain node-1 [1]."),
    ],
)
def test_a_part_of_something_longer_is_no_quotation(source: str, said: str) -> None:
    assert not Evidence.of([passage(source)]).quotes(said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Use the\n“Drain” button, then wait.", 'Use the "Drain" button, then wait [2].'),
        ("1. Run `kubectl get pods`.", "- Run `kubectl get pods` [1]."),
        ("Never **restart** the API.", "Never restart the API [1]."),
        ("Подождите 5 минут.", "Подождите 5 минут [1]."),
    ],
)
def test_a_quotation_is_known_by_its_words(source: str, said: str) -> None:
    assert Evidence.of([passage(source)]).quotes(said)


def test_what_stands_in_two_passages_is_no_quotation() -> None:
    first, second = passage("Scale the deployment to", "a.md"), passage("zero replicas.", "b.md")
    assert not Evidence.of([first, second]).quotes("Scale the deployment to zero replicas.")


def test_a_fenced_command_must_be_whole() -> None:
    source = "```sql\nDELETE FROM jobs WHERE id = 7;\n```\n```\nkubectl get pods | grep web\n```"
    assert holds(source, "```\nDELETE FROM jobs WHERE id = 7;\n```")
    assert not holds(source, "```\nDELETE FROM jobs\n```")
    assert holds(source, "```\n$ kubectl get pods\n```")


def test_a_command_with_an_address_is_checked_as_one() -> None:
    source = "Run `curl -s https://wiki.example/a/b` there."
    assert holds(source, "`curl -s https://wiki.example/a/b`")
    assert not holds(source, "`curl -s https://wiki.example/a`")
    assert not holds(source, "`curl https://wiki.example/a/b`")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("`rm -rf /var/lib/app/tmp`", "`rm -rf /var/lib/app`"),
        ("`rm -rf /var/lib/app/tmp`", "`rm -rf /var/lib/`"),
        ("`rm -rf ./build/*`", "`rm -rf ./`"),
        ("rm -rf /data/old-$(date +%F)", "rm -rf /data/old"),
        ("rm -rf /data/tmp*", "rm -rf /data/tmp"),
        ("`docker pull web:1.2`", "`docker pull web`"),
        ("`helm upgrade app --set image=web`", "`helm upgrade app --set image`"),
        ("```\nrm -rf /data/tmp/7\n```", "`rm -rf /data/tmp`"),
        ("run rm -rf /data/tmp/7 there", "```\nrm -rf /data/tmp\n```"),
    ],
)
def test_a_command_does_not_end_in_the_middle_of_a_word(source: str, said: str) -> None:
    assert not holds(source, said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("`terraform destroy -target=module.parser`", "`terraform destroy`"),
        (
            "`kubectl delete pods --field-selector status.phase=Failed -n shop`",
            "`kubectl delete pods`",
        ),
        ("`kubectl delete pod web-1 -n staging`", "`kubectl delete pod web-1`"),
        ("`git push --force-with-lease`", "`git push`"),
        ("`DELETE FROM jobs WHERE id = 7;`", "`DELETE FROM jobs`"),
        ("`docker system prune --filter until=24h`", "`docker system prune`"),
        ("run kubectl drain node-1 --ignore-daemonsets now", "kubectl drain node-1"),
    ],
)
def test_a_command_that_destroys_keeps_what_bounds_it(source: str, said: str) -> None:
    assert not holds(source, said)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("`kubectl get pods -n shop`", "`kubectl get pods`"),
        ("`kubectl delete pod web-1 -n staging`", "`kubectl delete`"),
        ("`kubectl delete pod web-1`, or with `kubectl delete pod web-1 --force`",
         "`kubectl delete pod web-1`"),
        ("`git push` is enough, `git push --force` is not", "`git push`"),
    ],
)  # fmt: skip
def test_a_command_that_stands_alone_in_a_source_may_be_told_so(source: str, said: str) -> None:
    assert holds(source, said)


@pytest.mark.parametrize(
    "source",
    [
        "Run `rm -rf /data/tmp`.",
        "Run **rm -rf /data/tmp**, then wait.",
        "Run rm -rf /data/tmp: it is safe.",
        "(run rm -rf /data/tmp)",
        "Run _rm -rf /data/tmp_ now",
        "Did you run rm -rf /data/tmp?",
        "```\nrm -rf /data/tmp\n```",
        "Run `rm -rf /data/tmp`/`rm -rf /data/old`.",
    ],
)
def test_signs_around_a_command_do_not_hide_it(source: str) -> None:
    assert holds(source, "`rm -rf /data/tmp`")


def test_continued_lines_are_one_command() -> None:
    source = "```bash\nhelm upgrade app \\\n    --atomic\n```"
    assert holds(source, "```\nhelm upgrade app --atomic\n```")


def test_placeholders_are_filled_from_the_question_only() -> None:
    source = "```\nkubectl delete pod <pod> -n shop\n```"
    said = "```\nkubectl delete pod web-7f -n shop\n```"
    assert holds(source, said, question="web-7f is stuck, what now?")
    assert not holds(source, said, question="a pod is stuck, what now?")
    assert holds(source, "```\nkubectl delete pod <pod> -n shop\n```")


def test_a_placeholder_never_becomes_a_command_or_an_option() -> None:
    question = "should I run drop-all or --force on it?"
    assert not holds("```\n<command> --now\n```", "`drop-all --now`", question=question)
    assert not holds("```\nkubectl drain <node>\n```", "`kubectl drain --force`", question=question)
    assert not holds("```\nkubectl drain <node>\n```", "`wipe.sh`", question="run wipe.sh?")


def test_what_the_asker_claims_is_no_source() -> None:
    assert not holds("frozen on Fridays", "the limit is 45 days", question="is it 45 days?")


def test_the_day_of_the_answer_may_be_named() -> None:
    assert holds("nothing", "Today is 3 June 2025.", today=date(2025, 6, 3))
    assert not holds("nothing", "Today is 4 June 2025.", today=date(2025, 6, 3))


def test_a_heading_and_its_block_have_a_kind() -> None:
    kinds = [block.kind for block in blocks("# A\n\ntext\n\n- b\n1. c\n\n```\nd\n```\n| e |\n")]
    solid = [kind for kind in kinds if kind is not Kind.BLANK]
    assert solid == [Kind.HEADING, Kind.PROSE, Kind.ITEM, Kind.STEP, Kind.FENCE, Kind.ROW]


def test_indented_code_is_code() -> None:
    claims = literals(Block(Kind.FENCE, "    rm -rf /data"))
    assert [(item.kind, item.text) for item in claims] == [(Claim.COMMAND, "rm -rf /data")]
