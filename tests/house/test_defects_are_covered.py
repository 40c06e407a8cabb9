"""Each numbered defect of the original (COMPAT section 8) has a test that fails on its behaviour."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
COVERED = {
    "D1": "test_what_was_ingested_is_found_after_every_mode",
    "D2": "test_the_report_counts_what_was_committed",
    "D3": "test_ingesting_again_adds_no_row_here_and_none_in_the_cloud",
    "D4": "test_consolidation_writes_no_byte_outside_of_its_block",
    "D5": "test_facts_that_leave_warm_arrive_in_cold_and_are_counted",
    "D6": "test_four_hundred_equal_facts_are_all_kept",
    "D7": "test_prune_removes_only_what_was_empty_for_sixty_days",
    "D8": "test_hot_state_over_its_limit_leaves_the_least_important_out",
    "D9": "test_commands_at_once_wait_for_each_other",
    "D10": "test_critical_sync_is_said_when_the_cloud_holds_the_state",
    "D11": "test_every_line_of_an_old_and_long_note_is_read",
    "D12": "test_a_fact_that_leaves_warm_keeps_date_reads_and_metadata",
    "D13": "test_the_first_versions_own_hot_state_is_mapped",
    "D14": "test_a_narrow_locale_damages_no_page",
    "D15": "test_a_fact_that_is_archived_and_ingested_again_is_one_row",
    "F1": "test_a_commit_that_was_not_confirmed_is_no_success",
    "F2": "test_restore_brings_notes_and_facts_back",
    "F3": "test_todays_counts_begin_anew_at_local_midnight",
    "F4": "test_a_cloud_that_is_gone_is_an_error",
    "F5": "test_metrics_are_what_happened",
    "F6": "test_the_variables_of_the_originals_examples_are_read",
    "F7": "test_every_command_and_flag_of_the_original_exists",
    "C1": "test_a_tree_over_its_limit_breaks_no_command",
    "C2": "test_a_damaged_file_is_named_and_the_rest_comes_over",
    "C3": "test_a_bad_update_of_hot_state_is_one_sentence",
    "W1": "test_what_was_asked_for_stands_before_its_neighbours",
    "W2": "test_punctuation_and_chinese_do_not_hide_words",
    "W3": "test_only_what_was_returned_counts_as_read",
    "W4": "test_what_only_looks_like_metadata_is_none",
    "W5": "test_validate_ends_with_zero_or_one",
    "W6": "test_an_importance_out_of_range_is_refused",
    "W7": "test_a_saved_note_is_found_and_a_removed_line_is_not",
    "W8": "test_many_reads_never_score_more_than_one",
    "W9": "test_a_category_is_compared_by_whole_segments",
    "S1": "test_a_secret_in_a_note_reaches_no_table",
    "S2": "test_a_hostile_query_reads_no_other_agents_rows",
    "S3": "test_notes_belong_to_one_agent",
    "S5": "test_a_server_that_is_killed_again_and_again_costs_only_time",
    "S6": "test_install_writes_enables_starts_and_says_that_logout_ends_it",
}


@pytest.fixture(scope="module")
def functions():
    """The name of every test function."""
    return {
        node.name
        for file in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("defect", COVERED)
def test_the_defect_has_its_test(defect, functions):
    """The function that the table names exists."""
    assert COVERED[defect] in functions


def test_no_defect_is_left_out():
    """D1 to D15, F1 to F7, C1 to C3, W1 to W9, S1 to S6; S4 is about encryption, which has tests of its own."""
    last = {"D": 15, "F": 7, "C": 3, "W": 9, "S": 6}
    numbered = {f"{kind}{n}" for kind, end in last.items() for n in range(1, end + 1)}

    assert numbered - set(COVERED) == {"S4"}
