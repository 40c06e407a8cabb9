"""Each numbered defect of the original (COMPAT section 8) has a test that fails on its behaviour."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
COVERED = {
    "D1": ("test_what_was_ingested_is_found_after_every_mode",),
    "D2": ("test_the_report_counts_what_was_committed",),
    "D3": ("test_ingesting_again_adds_no_row_here_and_none_in_the_cloud",),
    "D4": ("test_consolidation_writes_no_byte_outside_of_its_block",),
    "D5": ("test_facts_that_leave_warm_arrive_in_cold_and_are_counted",),
    "D6": ("test_four_hundred_equal_facts_are_all_kept",),
    "D7": ("test_prune_removes_only_what_was_empty_for_sixty_days",),
    "D8": ("test_hot_state_over_its_limit_leaves_the_least_important_out",),
    "D9": ("test_commands_at_once_wait_for_each_other", "test_twenty_stores_at_once_all_survive"),
    "D10": (
        "test_critical_sync_is_said_when_the_cloud_holds_the_state",
        "test_an_update_of_hot_state_leaves_the_clouds_tree_whole",
    ),
    "D11": ("test_every_line_of_an_old_and_long_note_is_read",),
    "D12": ("test_a_fact_that_leaves_warm_keeps_date_reads_and_metadata",),
    "D13": ("test_the_first_versions_own_hot_state_is_mapped",),
    "D14": ("test_a_narrow_locale_damages_no_page",),
    "D15": ("test_a_fact_that_is_archived_and_ingested_again_is_one_row",),
    "F1": ("test_a_commit_that_was_not_confirmed_is_no_success",),
    "F2": ("test_restore_brings_notes_and_facts_back",),
    "F3": ("test_todays_counts_begin_anew_at_local_midnight",),
    "F4": ("test_a_cloud_that_is_gone_is_an_error",),
    "F5": ("test_metrics_are_what_happened", "test_metrics_sizes_are_those_of_what_is_shown"),
    "F6": (
        "test_the_variables_of_the_originals_examples_are_read",
        "test_variables_that_the_daemon_does_not_see_are_named",
    ),
    "F7": (
        "test_every_command_and_flag_of_the_original_exists",
        "test_every_command_of_the_table_has_its_fields_in_their_types",
    ),
    "C1": ("test_a_tree_over_its_limit_breaks_no_command",),
    "C2": ("test_a_damaged_file_is_named_and_the_rest_comes_over",),
    "C3": ("test_a_bad_update_of_hot_state_is_one_sentence", "test_a_workspace_without_a_memory_folder_works"),
    "W1": ("test_what_was_asked_for_stands_before_its_neighbours",),
    "W2": ("test_punctuation_and_chinese_do_not_hide_words",),
    "W3": ("test_only_what_was_returned_counts_as_read",),
    "W4": ("test_what_only_looks_like_metadata_is_none", "test_words_inside_of_words_name_no_category_and_no_tool"),
    "W5": ("test_validate_ends_with_zero_or_one",),
    "W6": ("test_an_importance_out_of_range_is_refused", "test_a_text_without_words_is_refused"),
    "W7": ("test_a_saved_note_is_found_and_a_removed_line_is_not",),
    "W8": ("test_many_reads_never_score_more_than_one",),
    "W9": ("test_a_category_is_compared_by_whole_segments",),
    "S1": ("test_a_secret_in_a_note_reaches_no_table", "test_secrets_stay_in_the_note"),
    "S2": ("test_a_hostile_query_reads_no_other_agents_rows", "test_st4_hostile_questions_find_only_ones_own"),
    "S3": ("test_notes_belong_to_one_agent", "test_st4_an_agent_is_shown_nothing_of_its_neighbours"),
    "S5": ("test_a_server_that_is_killed_again_and_again_costs_only_time",),
    "S6": ("test_install_writes_enables_starts_and_says_that_logout_ends_it",),
}
ROWS = {
    "TR-2": ("test_tr2_random_commands_write_no_note",),
    "TR-4": ("test_tr4_importing_twice_changes_nothing_the_second_time",),
    "TR-5": ("test_tr5_an_import_brings_nothing_forgotten_back",),
    "TR-6": ("test_tr6_the_newer_is_current_and_the_older_superseded_with_a_link",),
    "ST-4": (
        "test_st4_an_agent_is_shown_nothing_of_its_neighbours",
        "test_st4_hostile_questions_find_only_ones_own",
        "test_st4_an_unsafe_agent_id_is_refused_by_every_command",
    ),
}
"""Rows of PROBLEMS that the memory's commands answer for."""


@pytest.fixture(scope="module")
def functions():
    """The name of every test function."""
    return {
        node.name
        for file in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize("named", [*COVERED, *ROWS])
def test_the_defect_has_its_tests(named, functions):
    """The functions that the tables name exist."""
    assert set((COVERED | ROWS)[named]) <= functions


def test_no_defect_is_left_out():
    """D1 to D15, F1 to F7, C1 to C3, W1 to W9, S1 to S6; S4 is about encryption, which has tests of its own."""
    last = {"D": 15, "F": 7, "C": 3, "W": 9, "S": 6}
    numbered = {f"{kind}{n}" for kind, end in last.items() for n in range(1, end + 1)}

    assert numbered - set(COVERED) == {"S4"}
